//! The plain primitive under everything else: `POST /v1/execute` runs code and answers with the whole
//! result, or with its events as they happen; `GET /health` says whether sandboxes can be made.

mod error;
mod request;
mod response;
mod stream;

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, FromRequest, Request as HttpRequest, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Json, Response};
use axum::routing::{get, post};
use bytes::Bytes;
use sandgate_core::network::NetworkPolicy;
use sandgate_core::{
    BackendError, Container, Containers, ExecuteRequest, NewContainer, Principal, SandboxSpec,
};
use sandgate_gate::{Asker, Call, Crowd, Executions, Ledger, Manner, Place, Running, Watch};
use serde_json::json;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub(crate) use error::Refusal;
use request::Request;
use response::Answer;

use crate::owner::Who;
use crate::recorded::record;
use crate::request_id::{RequestId, mark};
use crate::unheard::Unheard;

/// One byte of code takes six in JSON at most (`\u0000`), so no code within its limit is refused for
/// the way it is written.
const WORST_ESCAPE: u64 = 6;
/// Room for the other fields.
const BESIDE_THE_CODE: u64 = 64 << 10;
/// What it is called in records.
const DOOR: &str = "execute";

#[derive(Clone, Debug)]
pub struct ExecuteDoor {
    pub containers: Arc<Containers>,
    pub executions: Executions,
    pub ledger: Ledger,
    /// What a container made by this door may use.
    pub spec: SandboxSpec,
    /// Starting a sandbox goes on here when the client hangs up meanwhile, so that it never stops
    /// half-way.
    pub tasks: TaskTracker,
    /// Cancelled when the server waits no longer for what is under way.
    pub cut: CancellationToken,
}

impl ExecuteDoor {
    pub fn router(self) -> Router {
        let body_limit =
            self.spec.limits.code_bytes.saturating_mul(WORST_ESCAPE).saturating_add(BESIDE_THE_CODE);
        Router::new()
            .route("/health", get(health))
            .route("/v1/execute", post(execute))
            .method_not_allowed_fallback(async || Refusal::WrongMethod)
            .layer(from_fn_with_state(self.ledger.clone(), record))
            .layer(from_fn(mark))
            .layer(DefaultBodyLimit::max(usize::try_from(body_limit).unwrap_or(usize::MAX)))
            .with_state(self)
    }

    /// The container asked for, or a fresh one, with the code running in it.
    async fn start(&self, who: Principal, asker: Asker, request: Request) -> Result<Started, Refusal> {
        let (sender, receiver) = oneshot::channel();
        // Dropped with this future, when the client hangs up.
        let _here = asker.left.clone().drop_guard();
        let door = self.clone();
        self.tasks.spawn(async move {
            // If the client is gone by then, dropping what was started interrupts the code.
            let _ = sender.send(door.open_and_run(who, asker, request).await);
        });
        receiver.await.map_err(|_| BackendError::Engine("starting the execution was abandoned".to_owned()))?
    }

    /// The server may end before what it waits for.
    async fn until_cut<T>(&self, work: impl Future<Output = Result<T, Refusal>>) -> Result<T, Refusal> {
        tokio::select! {
            biased;
            () = self.cut.cancelled() => Err(BackendError::ShuttingDown.into()),
            done = work => done,
        }
    }

    async fn open_and_run(&self, who: Principal, asker: Asker, request: Request) -> Result<Started, Refusal> {
        self.executions.check_room(&asker)?;
        let (container, unheard) = match &request.container {
            Some(id) => {
                let container = self.containers.get(&who.owner, id)?;
                if request.network.is_some() {
                    self.containers.set_network(&container, request.network, None, &who.limits).await?;
                }
                (container, None)
            }
            None => {
                let _waits = asker.watch.outside(Place::Sandbox);
                let size = request.code.len() as u64;
                let (container, unheard) = self.fresh(who, size, request.network).await?;
                (container, Some(unheard))
            }
        };
        let run = ExecuteRequest {
            code: request.code,
            context: request.context,
            language: request.language,
            timeout: request.timeout,
            ..ExecuteRequest::default()
        };
        let manner = Manner { crowd: Crowd::Refuse, makes_context: true };
        let running = self.executions.start(&asker, &container, run, manner).await?;
        Ok(Started { container, running, unheard })
    }

    async fn fresh(
        &self,
        who: Principal,
        size: u64,
        network: Option<NetworkPolicy>,
    ) -> Result<(Arc<Container>, Unheard), Refusal> {
        let limit = self.spec.limits.code_bytes;
        if size > limit {
            return Err(BackendError::CodeTooLarge { size, limit }.into());
        }
        let mut spec = self.spec.clone();
        spec.limits.memory_bytes = who.limits.memory_within(spec.limits.memory_bytes);
        let (owner, allowance) = (who.owner, who.limits);
        let new = NewContainer { owner, allowance, spec, network, ..NewContainer::default() };
        let container = self.containers.create(new).await?;
        let unheard = Unheard::new(Arc::clone(&container), Arc::clone(&self.containers), self.tasks.clone());
        Ok((container, unheard))
    }
}

#[derive(Debug)]
struct Started {
    container: Arc<Container>,
    running: Running,
    unheard: Option<Unheard>,
}

async fn health(State(door): State<ExecuteDoor>) -> (StatusCode, Json<serde_json::Value>) {
    let (code, status) = if door.containers.is_healthy() {
        (StatusCode::OK, "ok")
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "the sandbox engine is gone; restart the server")
    };
    (code, Json(json!({"status": status, "version": env!("CARGO_PKG_VERSION")})))
}

async fn execute(
    State(door): State<ExecuteDoor>,
    Who(who): Who,
    request: HttpRequest,
) -> Result<Response, Refusal> {
    // A page in a browser may send any other type to this machine without asking first. Nothing of that is read.
    if !request.headers().get(CONTENT_TYPE).is_some_and(|kind| is_json(kind.as_bytes())) {
        return Err(Refusal::NotDeclaredJson);
    }
    let watch = request.extensions().get::<Watch>().cloned().unwrap_or_default();
    let call = request.extensions().get::<Call>().cloned().unwrap_or_default();
    let asker = Asker::new(&who, RequestId::of(request.extensions()), DOOR);
    let asker = Asker { watch, call: call.clone(), ..asker };
    let request = Request::parse(&Bytes::from_request(request, &door).await?)?;
    let streamed = request.stream;
    call.note("stream", streamed);
    call.begin();
    let Started { container, running, unheard } = door.until_cut(door.start(who, asker, request)).await?;
    let answer = if streamed {
        stream::answer(Arc::clone(&container), running, door.cut)
    } else {
        let outcome = door.until_cut(async { Ok(running.outcome().await?) }).await?;
        container.keep_alive();
        call.ended("completed");
        Json(Answer { container: container.id(), outcome }).into_response()
    };
    if let Some(container) = unheard {
        container.heard();
    }
    Ok(answer)
}

fn is_json(kind: &[u8]) -> bool {
    let kind = kind.split(|byte| *byte == b';').next().unwrap_or_default();
    kind.trim_ascii().eq_ignore_ascii_case(b"application/json")
}

#[cfg(test)]
mod tests;

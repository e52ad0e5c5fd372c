//! The front of every door: a request is admitted or told that the server stops, watched while it is
//! answered, and has its line in the log when the answer is out.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::middleware::Next;
use axum::response::Response;
use hyper::body::{Frame, SizeHint};
use sandgate_gate::{Metrics, Outside, Place, RequestEnd, Watch};
use tokio_util::task::task_tracker::TaskTrackerToken;
use tracing::Instrument;

use crate::known_paths::led;
use crate::request_id::{self, RequestId};
use crate::stopping::{E2B, OPENSANDBOX, Stopping, refusal};

/// As nginx has it: the client left before there was an answer.
const CLIENT_LEFT: u16 = 499;

/// What every request meets first.
#[derive(Clone, Debug)]
pub struct Front {
    pub metrics: Metrics,
    pub stopping: Stopping,
    /// By whose names E2B's requests are known.
    pub e2b_domain: Option<String>,
}

/// In an answer's extensions: it comes from the upstream as it is, so waiting for more of it is waiting for
/// the model.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passed;

/// In an answer's extensions: which limit is the reason for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LimitHit(pub(crate) &'static str);

pub(crate) async fn attend(State(front): State<Front>, mut request: Request, next: Next) -> Response {
    // The same words mean something else inside a sandbox.
    if !crate::e2b::is_ours(front.e2b_domain.as_deref(), &request) {
        request = led(request);
    }
    let path = request.uri().path().to_owned();
    let id = request_id::of(request.headers());
    let api = api_of(front.e2b_domain.as_deref(), &request);
    let watch = Watch::begin(&front.metrics, api, request.headers());
    let mut attended = Attended {
        watch: watch.clone(),
        method: request.method().to_string(),
        id: id.clone(),
        status: CLIENT_LEFT,
        is_stream: false,
        is_whole: true,
        _token: None,
    };
    let mut response = match front.stopping.admit(request.method(), &path, api) {
        Ok(token) => {
            attended._token = Some(token);
            request.extensions_mut().insert(watch.clone());
            request.extensions_mut().insert(front.stopping.told());
            request.extensions_mut().insert(RequestId(id.clone()));
            let past_cut = front.stopping.clone().past_cut();
            tokio::select! {
                biased;
                response = next.run(request).instrument(tracing::info_span!("request", id)) => response,
                () = past_cut => refusal(api),
            }
        }
        Err(refusal) => *refusal,
    };
    request_id::give(&mut response, &id);
    attended.answered(&response);
    if let Some(LimitHit(limit)) = response.extensions().get() {
        front.metrics.limit_hit(limit);
    }
    let is_passed = response.extensions().get::<Passed>().is_some();
    response.map(|body| {
        attended.is_whole = body.is_end_stream();
        let past_cut = Box::pin(front.stopping.past_cut());
        Body::new(AttendedBody { body, attended, watch, is_passed, waits: None, past_cut })
    })
}

/// A word of ours for what was asked.
fn api_of(e2b_domain: Option<&str>, request: &Request) -> &'static str {
    if crate::e2b::is_ours(e2b_domain, request) {
        return E2B;
    }
    let path = request.uri().path();
    if crate::opensandbox::is_ours(path) {
        return OPENSANDBOX;
    }
    if path == "/console" || path.starts_with("/console/") {
        return "console";
    }
    let rest = path.strip_prefix("/v1/").unwrap_or_default();
    match rest.split('/').next().unwrap_or_default() {
        "responses" => "responses",
        "chat" => "chat",
        "execute" => "execute",
        "containers" => "containers",
        "files" => "files",
        "conversations" => "conversations",
        "models" => "models",
        "admin" => "admin",
        "embeddings" => "embeddings",
        "" if path == "/health" => "health",
        "" if path == "/metrics" => "metrics",
        _ => "other",
    }
}

/// A request until its answer is out, or its client gone.
#[derive(Debug)]
struct Attended {
    watch: Watch,
    method: String,
    id: String,
    status: u16,
    is_stream: bool,
    /// Nothing of the answer is left to send.
    is_whole: bool,
    _token: Option<TaskTrackerToken>,
}

impl Attended {
    fn answered(&mut self, response: &Response) {
        let text = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
        self.status = response.status().as_u16();
        self.is_stream =
            text(CONTENT_TYPE.as_str()).is_some_and(|kind| kind.starts_with("text/event-stream"));
    }
}

impl Drop for Attended {
    fn drop(&mut self) {
        let Self { method, id, status, is_stream: stream, .. } = self;
        let Some(RequestEnd { api, model, took, overhead }) = self.watch.end(id, *status, *stream) else {
            return;
        };
        let milliseconds = |time: std::time::Duration| (time.as_secs_f64() * 100_000.0).round() / 100.0;
        let (ms, overhead_ms) = (milliseconds(took), milliseconds(overhead));
        let model = model.map(|model| model.escape_debug().take(100).collect::<String>());
        let left = !self.is_whole || *status == CLIENT_LEFT;
        // Whoever asks how the server is does so all day.
        if matches!(api, "health" | "metrics") && *status == StatusCode::OK {
            tracing::debug!(target: "sandgate::request", id, api, method, status, ms, "request");
        } else {
            tracing::info!(
                target: "sandgate::request",
                id, api, method, model, status, stream, ms, overhead_ms, left, "request"
            );
        }
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the server was stopped")]
struct CutOff;

struct AttendedBody {
    body: Body,
    attended: Attended,
    watch: Watch,
    is_passed: bool,
    waits: Option<Outside>,
    past_cut: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl HttpBody for AttendedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = &mut *self;
        // Asked for more: the client has taken what was there.
        if !this.is_passed {
            this.waits = None;
        }
        let polled = Pin::new(&mut this.body).poll_frame(context);
        match &polled {
            Poll::Ready(Some(Ok(_))) => {
                this.attended.is_whole = this.body.is_end_stream();
                this.waits = Some(this.watch.outside(Place::Client));
            }
            Poll::Ready(None) => {
                this.attended.is_whole = true;
                this.waits = None;
            }
            Poll::Ready(Some(Err(_))) => this.waits = None,
            Poll::Pending if this.is_passed => {
                this.waits.get_or_insert_with(|| this.watch.outside(Place::Model));
            }
            Poll::Pending => {}
        }
        // Broken off, so that nobody takes it for the whole.
        if polled.is_pending() && this.past_cut.as_mut().poll(context).is_ready() {
            return Poll::Ready(Some(Err(axum::Error::new(CutOff))));
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

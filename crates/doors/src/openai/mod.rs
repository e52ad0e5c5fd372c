//! The door that speaks OpenAI's API: containers and their files, files, conversations, and the
//! responses that use them.

mod body;
mod chat;
mod container_files;
mod container_wish;
mod containers;
mod conversation_items;
mod conversations;
mod download;
mod error;
mod files;
mod hosted_tools;
mod metadata;
mod other_paths;
pub(crate) mod pages;
mod passed;
mod passing;
mod path;
mod response_id;
mod responses;
mod sse;
mod stamp;
mod stored_responses;
mod through;
mod uploads;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{get, post};
use sandgate_core::{BackendError, Container, Containers, Owner, SandboxSpec};
use sandgate_gate::{ContainerFiles, Gate, GateError, Ledger};
use sandgate_store::Store;
use tokio::sync::oneshot;
use tokio_util::task::TaskTracker;

pub(crate) use body::{JsonBody, is_kind};
pub(crate) use error::{ApiError, ApiResult, limit_word};
pub(crate) use other_paths::wrong_method;
pub(crate) use pages::{Query, no_such_page};
pub(crate) use path::InPath;

use crate::recorded::record;
use crate::request_id::mark;

#[derive(Clone, Debug)]
pub struct OpenAiDoor {
    pub gate: Arc<Gate>,
    pub containers: Arc<Containers>,
    pub store: Store,
    pub files: ContainerFiles,
    pub ledger: Ledger,
    /// What a container made by this door may use, unless its maker asks for another size.
    pub spec: SandboxSpec,
    /// What must not stop half-way goes on here when the client hangs up meanwhile.
    pub tasks: TaskTracker,
    pub limits: DoorLimits,
    /// A container that idled past its time is lost, as it is with OpenAI. Otherwise using it wakes it.
    pub strict: bool,
}

/// How much a client may send or ask for.
#[derive(Clone, Copy, Debug)]
pub struct DoorLimits {
    /// Memory of one container, in bytes.
    pub max_memory: u64,
    /// Bytes of one uploaded file.
    pub max_upload: u64,
    /// Bytes of a JSON body, which is held in memory.
    pub max_body: usize,
}

impl Default for DoorLimits {
    fn default() -> Self {
        Self { max_memory: 4 << 30, max_upload: 512 << 20, max_body: 64 << 20 }
    }
}

type Door = Arc<OpenAiDoor>;

impl OpenAiDoor {
    /// Answers to every path that no other door has.
    pub fn router(self) -> Router {
        let (max_body, ledger) = (self.limits.max_body, self.ledger.clone());
        Router::new()
            .route("/v1/responses", post(responses::create))
            .route("/v1/responses/input_tokens", post(passing::count_or_compact))
            .route("/v1/responses/compact", post(passing::count_or_compact))
            .route(
                "/v1/responses/{response}",
                get(stored_responses::retrieve).delete(stored_responses::delete),
            )
            .route("/v1/responses/{response}/cancel", post(stored_responses::cancel))
            .route("/v1/responses/{response}/input_items", get(stored_responses::input_items))
            .route("/v1/chat/completions", post(chat::create))
            .route("/v1/models", get(passing::models))
            .route("/v1/models/{*model}", get(other_paths::model))
            .route("/v1/conversations", post(conversations::create))
            .route(
                "/v1/conversations/{conversation}",
                get(conversations::retrieve).post(conversations::update).delete(conversations::delete),
            )
            .route(
                "/v1/conversations/{conversation}/items",
                get(conversation_items::list).post(conversation_items::create),
            )
            .route(
                "/v1/conversations/{conversation}/items/{item}",
                get(conversation_items::retrieve).delete(conversation_items::delete),
            )
            .route("/v1/containers", post(containers::create).get(containers::list))
            .route("/v1/containers/{container}", get(containers::retrieve).delete(containers::delete))
            .route(
                "/v1/containers/{container}/files/{file}",
                get(container_files::retrieve).delete(container_files::delete),
            )
            .route("/v1/containers/{container}/files/{file}/content", get(container_files::content))
            .route(
                "/v1/containers/{container}/files",
                post(container_files::create).get(container_files::list),
            )
            .route("/v1/files", post(files::create).get(files::list))
            .route("/v1/files/{file}", get(files::retrieve).delete(files::delete))
            .route("/v1/files/{file}/content", get(files::content))
            .fallback(other_paths::pass)
            .method_not_allowed_fallback(other_paths::wrong_method)
            // Uploads are not held in memory and have a limit of their own.
            .layer(DefaultBodyLimit::max(max_body))
            .layer(from_fn_with_state(ledger, record))
            .layer(from_fn(stamp::stamp))
            .layer(from_fn(mark))
            .with_state(Arc::new(self))
    }

    /// The owner's container, used by asking for it.
    pub(crate) fn container(&self, owner: &Owner, id: &str) -> ApiResult<Arc<Container>> {
        let container = self.containers.get(owner, &error::container_id(id)?)?;
        if self.strict && container.is_expired() {
            return Err(GateError::ContainerExpired.into());
        }
        container.keep_alive();
        Ok(container)
    }

    /// Work that goes on to its end even when the client hangs up; what it gives is dropped then.
    pub(crate) async fn to_the_end<T: Send + 'static>(
        &self,
        work: impl Future<Output = ApiResult<T>> + Send + 'static,
    ) -> ApiResult<T> {
        let (sender, receiver) = oneshot::channel();
        self.tasks.spawn(async move {
            let _ = sender.send(work.await);
        });
        receiver.await.map_err(|_| BackendError::Engine("the work of a request was abandoned".to_owned()))?
    }
}

#[cfg(test)]
mod test_client;

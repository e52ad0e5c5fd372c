//! Everything this door says no to, and the one place where that becomes a status and a JSON body:
//! `{"error": {"message", "type", "param", "code"}}`, in the words OpenAI's own server uses where they
//! are known.

use std::borrow::Cow;
use std::time::Duration;

use axum::body::Body;
use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Json, Response};
use bytes::Bytes;
use sandgate_core::{BackendError, ContainerId, human_bytes};
use sandgate_gate::upstream::UpstreamError;
use sandgate_gate::{ContainerFilesError, GateError};
use sandgate_store::StoreError;
use serde_json::{Value, json};

use crate::front::LimitHit;
use crate::patience::TooSlow;
use crate::recorded::ErrorCode;

pub(crate) type ApiResult<T> = Result<T, ApiError>;

/// A message repeats what the client sent; not all of it if that was much.
const LONGEST_MESSAGE: usize = 2000;

#[derive(Debug)]
pub(crate) enum ApiError {
    Refused(Refusal),
    /// The upstream said no; its answer goes to the client as it came.
    Upstream(Box<Response>),
}

#[derive(Debug)]
pub(crate) struct Refusal {
    status: StatusCode,
    message: String,
    param: Option<String>,
    code: Option<Cow<'static, str>>,
    /// Seconds after which trying again makes sense.
    retry_after: Option<u64>,
    /// Which limit it is about, for counting.
    limit: Option<&'static str>,
}

/// A response that ran into one of the gate's limits. SDKs would try again by themselves.
const LIMIT_REACHED: &str = "limit_reached";
/// A limit of a key that goes by what is under way: it may be over any moment.
const SOON: Duration = Duration::from_secs(1);
/// One that goes by what is kept: somebody has to delete something, or idle.
const LATER: Duration = Duration::from_secs(30);

impl ApiError {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        let retry_after = (status == StatusCode::SERVICE_UNAVAILABLE).then_some(5);
        Self::Refused(Refusal {
            status,
            message: message.into(),
            param: None,
            code: None,
            retry_after,
            limit: None,
        })
    }

    /// A limit of the caller's is reached.
    pub(crate) fn too_many(message: impl Into<String>, wait: Duration) -> Self {
        let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
        Self::Refused(Refusal {
            status: StatusCode::TOO_MANY_REQUESTS,
            message: message.into(),
            param: None,
            code: Some(Cow::Borrowed("rate_limit_exceeded")),
            retry_after: Some(seconds.max(1)),
            limit: None,
        })
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, message)
    }

    pub(crate) fn too_large(message: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, message).coded("content_too_large")
    }

    pub(crate) fn no_such_container(id: &str) -> Self {
        Self::not_found(format!("Container with id '{id}' not found."))
    }

    pub(crate) fn no_such_file(id: &str) -> Self {
        Self::not_found(format!("No such File object: {id}")).about("id")
    }

    pub(crate) fn unknown_url(method: &Method, path: &str) -> Self {
        Self::not_found(format!("Invalid URL ({method} {path})")).coded("unknown_url")
    }

    pub(crate) fn wrong_method(method: &Method, path: &str) -> Self {
        let message = format!("Invalid method for URL ({method} {path})");
        Self::new(StatusCode::METHOD_NOT_ALLOWED, message).coded("method_not_allowed")
    }

    /// The client learns that it is not its fault, the log learns why.
    pub(crate) fn internal(error: &dyn std::fmt::Display) -> Self {
        tracing::error!(%error, "a request failed inside the server");
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "The server had an error while processing your request; its log says why.",
        )
    }

    pub(crate) fn about(self, param: impl Into<String>) -> Self {
        match self {
            Self::Refused(refusal) => Self::Refused(Refusal { param: Some(param.into()), ..refusal }),
            other @ Self::Upstream(_) => other,
        }
    }

    /// Counted under this name.
    fn counted(self, limit: Option<&'static str>) -> Self {
        match self {
            Self::Refused(refusal) => Self::Refused(Refusal { limit, ..refusal }),
            other @ Self::Upstream(_) => other,
        }
    }

    pub(crate) fn coded(self, code: impl Into<Cow<'static, str>>) -> Self {
        match self {
            Self::Refused(refusal) => Self::Refused(Refusal { code: Some(code.into()), ..refusal }),
            other @ Self::Upstream(_) => other,
        }
    }
}

impl Refusal {
    fn body(&self) -> Value {
        let kind = match self.status {
            StatusCode::TOO_MANY_REQUESTS => "rate_limit_error",
            status if status.is_server_error() => "server_error",
            _ => "invalid_request_error",
        };
        let message = clipped(&self.message);
        let param = self.param.as_deref().map(clipped);
        json!({"error": {"message": message, "type": kind, "param": param, "code": self.code}})
    }
}

/// Ours are lower-case and have no full stop; the ones of this door do.
fn sentence(error: &BackendError) -> String {
    let text = error.to_string();
    let first = text.chars().next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(text.chars().skip(1)).chain(['.']).collect()
}

fn clipped(text: &str) -> &str {
    &text[..text.floor_char_boundary(LONGEST_MESSAGE)]
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        match self {
            Self::Upstream(answer) => *answer,
            Self::Refused(refusal) => {
                let mut response = (refusal.status, Json(refusal.body())).into_response();
                if let Some(seconds) = refusal.retry_after {
                    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
                }
                if refusal.code.as_deref() == Some(LIMIT_REACHED) {
                    response.headers_mut().insert("x-should-retry", HeaderValue::from_static("false"));
                }
                let code = refusal.code.unwrap_or_default().into_owned();
                response.extensions_mut().insert(ErrorCode(code));
                if let Some(limit) = refusal.limit {
                    response.extensions_mut().insert(LimitHit(limit));
                }
                response
            }
        }
    }
}

impl From<BackendError> for ApiError {
    fn from(error: BackendError) -> Self {
        let limit = limit_word(&error);
        Self::of_backend(error).counted(limit)
    }
}

/// Limits of the server and of keys, for counting.
pub(crate) fn limit_word(error: &BackendError) -> Option<&'static str> {
    match error {
        BackendError::Full { .. } => Some("live_sandboxes"),
        BackendError::TooManyContainers { .. } => Some("containers"),
        BackendError::TooManySandboxes { .. } => Some("sandboxes"),
        BackendError::TooManyExecutions { .. } => Some("executions"),
        BackendError::CodeTooLarge { .. } => Some("code_size"),
        _ => None,
    }
}

impl ApiError {
    fn of_backend(error: BackendError) -> Self {
        use BackendError as B;
        match error {
            B::NoSuchContainer(id) => Self::no_such_container(id.as_str()),
            B::NoSuchFile(_) | B::NoSuchContext(_) | B::NoSuchProcess(_) => {
                Self::not_found(error.to_string())
            }
            B::FileTooLarge { limit } => Self::too_large(format!(
                "The file does not fit: the container has room for {} more.",
                human_bytes(limit)
            )),
            B::CodeTooLarge { .. } => Self::too_large(error.to_string()),
            B::Full { .. } | B::ShuttingDown => Self::new(StatusCode::SERVICE_UNAVAILABLE, error.to_string()),
            // In the words of the door that runs code directly, so that a client needs to know one set.
            B::Unavailable { .. } => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, error.to_string()).coded("backend_unavailable")
            }
            B::OtherBackend { .. } => Self::new(StatusCode::FORBIDDEN, error.to_string())
                .about("backend")
                .coded("backend_not_allowed"),
            B::NoSuchBackend { .. } => {
                Self::bad_request(error.to_string()).about("backend").coded("unknown_backend")
            }
            B::TooManyExecutions { .. } | B::Busy(_) => Self::too_many(sentence(&error), SOON),
            B::TooManyContainers { .. } | B::TooManySandboxes { .. } => {
                Self::too_many(sentence(&error), LATER)
            }
            B::Paused | B::ContextExists(_) | B::TooManyContexts { .. } | B::Exists(_) => {
                Self::new(StatusCode::CONFLICT, error.to_string())
            }
            B::NoSuchLanguage { .. }
            | B::Invalid(_)
            | B::InvalidId(_)
            | B::File { .. }
            | B::IsFolder(_)
            | B::NotAFolder(_)
            | B::PermissionDenied(_) => Self::bad_request(error.to_string()),
            B::NoSpace(_) => Self::new(StatusCode::INSUFFICIENT_STORAGE, error.to_string()),
            B::PortClosed(_) => Self::new(StatusCode::BAD_GATEWAY, error.to_string()),
            B::Unsupported(_) => Self::new(StatusCode::NOT_IMPLEMENTED, error.to_string()),
            B::NoSuchSandbox(_) | B::Engine(_) => Self::internal(&error),
        }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotFound => Self::not_found("There is no such object."),
            StoreError::Exists => Self::new(StatusCode::CONFLICT, "There is such an object already."),
            StoreError::FileTooLarge { limit } => Self::too_large(format!(
                "The file is larger than this server takes, which is {}.",
                human_bytes(limit)
            )),
            StoreError::Content(error) if TooSlow::is_behind(&error) => super::body::too_slow(),
            StoreError::Content(error) => Self::bad_request(format!("The body could not be read: {error}")),
            StoreError::Closed => Self::new(StatusCode::SERVICE_UNAVAILABLE, "The server is shutting down."),
            StoreError::TooSlow => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "The search took too long. Look for less at once.")
            }
            StoreError::Newer { .. }
            | StoreError::Sqlite(_)
            | StoreError::Json(_)
            | StoreError::Io(_)
            | StoreError::Panicked => Self::internal(&error),
        }
    }
}

impl From<ContainerFilesError> for ApiError {
    fn from(error: ContainerFilesError) -> Self {
        match error {
            ContainerFilesError::NoSuchFile(id) => {
                Self::not_found(format!("Container file with id '{id}' not found."))
            }
            ContainerFilesError::Store(error) => error.into(),
            ContainerFilesError::Backend(error) => error.into(),
        }
    }
}

impl From<GateError> for ApiError {
    fn from(error: GateError) -> Self {
        match error {
            GateError::Invalid { message, param, code } => Self::Refused(Refusal {
                status: StatusCode::BAD_REQUEST,
                message,
                param,
                code: code.map(Cow::Borrowed),
                retry_after: None,
                limit: None,
            }),
            GateError::NotFound { message, param } => Self::Refused(Refusal {
                status: StatusCode::NOT_FOUND,
                message,
                param: param.map(str::to_owned),
                code: None,
                retry_after: None,
                limit: None,
            }),
            GateError::ContainerExpired => Self::bad_request(error.to_string()),
            GateError::Upstream(error) => error.into(),
            GateError::ModelFailed { code, message } => {
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, message).coded(code)
            }
            GateError::Backend(error) => error.into(),
            GateError::Store(error) => error.into(),
            GateError::NotRecorded => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, error.to_string()).coded("not_recorded")
            }
            GateError::LimitReached(message) => {
                // Not the client's mistake, but trying again would run and pay for the same once more.
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, message)
                    .coded(LIMIT_REACHED)
                    .counted(Some("response"))
            }
            GateError::Busy(message) => Self::too_many(message, SOON),
            GateError::Stopping => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, error.to_string()).coded("shutting_down")
            }
            // Nobody reads this.
            GateError::Cancelled => Self::bad_request("The request was cancelled."),
        }
    }
}

impl From<UpstreamError> for ApiError {
    fn from(error: UpstreamError) -> Self {
        let message = error.to_string();
        match error {
            UpstreamError::Status { status, headers, body } => {
                Self::Upstream(Box::new(passed_on(status, *headers, body)))
            }
            UpstreamError::TimedOut { .. } => Self::new(StatusCode::GATEWAY_TIMEOUT, message),
            UpstreamError::Unreachable(_) | UpstreamError::Broken(_) => {
                Self::new(StatusCode::BAD_GATEWAY, message)
            }
            UpstreamError::Unsupported(_) => Self::bad_request(message),
        }
    }
}

fn passed_on(status: StatusCode, headers: HeaderMap, body: Bytes) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}

/// An id from a path. One that could never be is as good as one that is not there.
pub(crate) fn container_id(text: &str) -> ApiResult<ContainerId> {
    ContainerId::parse(text).map_err(|_| ApiError::no_such_container(text))
}

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;

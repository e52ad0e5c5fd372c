//! Everything this door says no to, and the one place where that becomes a status and a JSON body: `{"code",
//! "message"}`, both always there, because the SDKs read both. On the data plane `sandboxId` is with them, in the
//! words that the SDKs look for.

use axum::extract::rejection::BytesRejection;
use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Json, Response};
use sandgate_core::{BackendError, LeaseError};
use serde_json::{Value, json};

use crate::patience::TooSlow;

pub(super) type E2bResult<T> = Result<T, E2bError>;

const SHOULD_RETRY: HeaderName = HeaderName::from_static("should-retry");
/// A message repeats what the client sent; not all of it if that was much.
const LONGEST_MESSAGE: usize = 1000;

#[derive(Debug)]
pub(super) struct E2bError {
    status: StatusCode,
    message: String,
    /// Seconds after which trying again makes sense. None: it makes none, and the SDKs are told so.
    retry_after: Option<u64>,
    /// On the data plane: which sandbox, and which port of it.
    sandbox: Option<String>,
    port: Option<u16>,
}

impl E2bError {
    pub(super) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), retry_after: None, sandbox: None, port: None }
    }

    pub(super) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    pub(super) fn unauthorized(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, message)
    }

    pub(super) fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, message)
    }

    pub(super) fn conflict(message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, message)
    }

    pub(super) fn not_here(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_IMPLEMENTED, message)
    }

    pub(super) fn no_such_sandbox(id: &str) -> Self {
        Self::not_found(format!("sandbox \"{id}\" doesn't exist or you don't have access to it"))
    }

    /// On the data plane: it ended, is paused, or never was. The SDKs look for these words.
    pub(super) fn sandbox_gone(id: &str) -> Self {
        Self::new(StatusCode::BAD_GATEWAY, "The sandbox was not found").of(id)
    }

    /// The SDKs look for these words too.
    pub(super) fn port_closed(id: &str, port: u16) -> Self {
        let message = "The sandbox is running but port is not open";
        Self { port: Some(port), ..Self::new(StatusCode::BAD_GATEWAY, message).of(id) }
    }

    pub(super) fn of(self, id: &str) -> Self {
        Self { sandbox: Some(id.to_owned()), ..self }
    }

    pub(super) fn retry_after(self, seconds: u64) -> Self {
        Self { retry_after: Some(seconds), ..self }
    }

    /// The client learns that it is not its fault, the log learns why.
    pub(super) fn internal(error: &dyn std::fmt::Display) -> Self {
        tracing::error!(%error, "a request of E2B's failed inside the server");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "the server failed; its log says why")
    }

    /// What the SDKs read.
    pub(super) fn body(&self) -> Value {
        let message = match self.message.char_indices().nth(LONGEST_MESSAGE) {
            Some((end, _)) => format!("{}…", &self.message[..end]),
            None => self.message.clone(),
        };
        let mut body = json!({"code": self.status.as_u16(), "message": message});
        if let Some(id) = &self.sandbox {
            body["sandboxId"] = id.clone().into();
        }
        if let Some(port) = self.port {
            body["port"] = port.into();
        }
        body
    }

    pub(super) fn status(&self) -> StatusCode {
        self.status
    }
}

impl From<LeaseError> for E2bError {
    fn from(error: LeaseError) -> Self {
        match error {
            LeaseError::NotFound => {
                Self::not_found("the sandbox doesn't exist or you don't have access to it")
            }
            LeaseError::Paused => Self::conflict("the sandbox is paused already"),
            LeaseError::Running => Self::conflict("the sandbox is running already"),
            LeaseError::Backend(error) => error.into(),
            LeaseError::Registry(_) => Self::internal(&error),
        }
    }
}

impl From<BackendError> for E2bError {
    fn from(error: BackendError) -> Self {
        use StatusCode as S;
        let status = match &error {
            BackendError::Full { .. } => {
                return Self::new(S::SERVICE_UNAVAILABLE, error.to_string()).retry_after(5);
            }
            BackendError::ShuttingDown => {
                return Self::new(S::SERVICE_UNAVAILABLE, error.to_string()).retry_after(1);
            }
            BackendError::Unavailable { retry_seconds, .. } => {
                return Self::new(S::SERVICE_UNAVAILABLE, error.to_string()).retry_after(*retry_seconds);
            }
            BackendError::TooManyExecutions { .. } | BackendError::Busy(_) => {
                return Self::new(S::TOO_MANY_REQUESTS, error.to_string()).retry_after(1);
            }
            // Nothing changes before somebody ends a sandbox: trying again at once would only hide that.
            BackendError::TooManyContainers { .. } | BackendError::TooManySandboxes { .. } => {
                S::TOO_MANY_REQUESTS
            }
            BackendError::NoSuchContainer(_)
            | BackendError::NoSuchContext(_)
            | BackendError::NoSuchFile(_)
            | BackendError::NoSuchProcess(_) => S::NOT_FOUND,
            BackendError::Paused
            | BackendError::ContextExists(_)
            | BackendError::TooManyContexts { .. }
            | BackendError::Exists(_) => S::CONFLICT,
            BackendError::CodeTooLarge { .. } | BackendError::FileTooLarge { .. } => S::PAYLOAD_TOO_LARGE,
            BackendError::NoSpace(_) => S::INSUFFICIENT_STORAGE,
            BackendError::PortClosed(_) => S::BAD_GATEWAY,
            BackendError::Unsupported(_) => S::NOT_IMPLEMENTED,
            BackendError::NoSuchLanguage { .. }
            | BackendError::Invalid(_)
            | BackendError::InvalidId(_)
            | BackendError::File { .. }
            | BackendError::IsFolder(_)
            | BackendError::NotAFolder(_)
            | BackendError::NoSuchBackend { .. }
            | BackendError::OtherBackend { .. }
            | BackendError::PermissionDenied(_) => S::BAD_REQUEST,
            BackendError::NoSuchSandbox(_) | BackendError::Engine(_) => return Self::internal(&error),
        };
        Self::new(status, error.to_string())
    }
}

impl From<BytesRejection> for E2bError {
    fn from(rejection: BytesRejection) -> Self {
        if TooSlow::is_behind(&rejection) {
            return Self::new(StatusCode::REQUEST_TIMEOUT, TooSlow.to_string());
        }
        Self::new(rejection.status(), rejection.body_text())
    }
}

impl IntoResponse for E2bError {
    fn into_response(self) -> Response {
        let body = self.body();
        let Self { status, retry_after, .. } = self;
        let mut response = (status, Json(body)).into_response();
        let headers = response.headers_mut();
        match retry_after {
            Some(seconds) => {
                headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
            }
            None if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS => {
                headers.insert(SHOULD_RETRY, HeaderValue::from_static("false"));
            }
            None => {}
        }
        response
    }
}

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;

//! Everything this door says no to, and the one place where that becomes a status and a JSON body: `{"code",
//! "message"}`, or `{"detail": […]}` for a body that is not as it must be, as the original's framework says it.

use axum::extract::rejection::BytesRejection;
use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Json, Response};
use sandgate_core::network::InvalidTarget;
use sandgate_core::{BackendError, LeaseError};
use serde_json::{Value, json};

use crate::patience::TooSlow;

pub(super) type Answered<T> = Result<T, Refusal>;

pub(super) const INVALID_PARAMETER: &str = "SANDBOX::INVALID_PARAMETER";
pub(super) const NOT_SUPPORTED: &str = "SANDBOX::API_NOT_SUPPORTED";
const INTERNAL: &str = "SANDBOX::INTERNAL_ERROR";
/// A message repeats what the client sent; not all of it if that was much.
const LONGEST_MESSAGE: usize = 1000;

#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    said: Said,
    /// Seconds after which trying again makes sense.
    retry_after: Option<u64>,
}

#[derive(Debug)]
enum Said {
    Coded {
        code: &'static str,
        message: String,
    },
    /// What is wrong with which fields.
    Fields(Vec<Value>),
}

impl Refusal {
    pub(super) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, said: Said::Coded { code, message: message.into() }, retry_after: None }
    }

    pub(super) fn fields(problems: Vec<Value>) -> Self {
        Self { status: StatusCode::UNPROCESSABLE_ENTITY, said: Said::Fields(problems), retry_after: None }
    }

    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, INVALID_PARAMETER, message)
    }

    pub(super) fn not_here(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_IMPLEMENTED, NOT_SUPPORTED, message)
    }

    pub(super) fn no_such_sandbox(id: &str) -> Self {
        let message = format!("Sandbox {id} not found.");
        Self::new(StatusCode::NOT_FOUND, "DOCKER::SANDBOX_NOT_FOUND", message)
    }

    pub(super) fn not_running() -> Self {
        let message = "Sandbox is not in a running state.";
        Self::new(StatusCode::CONFLICT, "DOCKER::SANDBOX_NOT_RUNNING", message)
    }

    pub(super) fn not_paused() -> Self {
        Self::new(StatusCode::CONFLICT, "DOCKER::SANDBOX_NOT_PAUSED", "Sandbox is not in a paused state.")
    }

    pub(super) fn retry_after(self, seconds: u64) -> Self {
        Self { retry_after: Some(seconds), ..self }
    }

    /// The client learns that it is not its fault, the log learns why.
    pub(super) fn internal(error: &dyn std::fmt::Display) -> Self {
        tracing::error!(%error, "a request of OpenSandbox's failed inside the server");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, INTERNAL, "the server failed; its log says why")
    }
}

impl From<InvalidTarget> for Refusal {
    /// Too many rules have a status of their own, as in the original.
    fn from(error: InvalidTarget) -> Self {
        let status = match error {
            InvalidTarget::TooManyRules { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            _ => StatusCode::BAD_REQUEST,
        };
        Self::new(status, INVALID_PARAMETER, error.to_string())
    }
}

impl From<LeaseError> for Refusal {
    fn from(error: LeaseError) -> Self {
        match error {
            LeaseError::NotFound => {
                Self::new(StatusCode::NOT_FOUND, "DOCKER::SANDBOX_NOT_FOUND", "Sandbox not found.")
            }
            LeaseError::Paused => Self::not_running(),
            LeaseError::Running => Self::not_paused(),
            LeaseError::Backend(error) => error.into(),
            LeaseError::Registry(_) => Self::internal(&error),
        }
    }
}

impl From<BackendError> for Refusal {
    fn from(error: BackendError) -> Self {
        use StatusCode as S;
        let (status, code) = match &error {
            BackendError::Full { .. } => {
                return Self::new(S::SERVICE_UNAVAILABLE, "SANDBOX::SERVER_FULL", error.to_string())
                    .retry_after(5);
            }
            BackendError::ShuttingDown => {
                return Self::new(S::SERVICE_UNAVAILABLE, "SANDBOX::SHUTTING_DOWN", error.to_string())
                    .retry_after(1);
            }
            BackendError::Unavailable { retry_seconds, .. } => {
                return Self::new(S::SERVICE_UNAVAILABLE, "SANDBOX::BACKEND_UNAVAILABLE", error.to_string())
                    .retry_after(*retry_seconds);
            }
            BackendError::TooManyExecutions { .. } | BackendError::Busy(_) => {
                return Self::new(S::TOO_MANY_REQUESTS, "SANDBOX::QUOTA_EXCEEDED", error.to_string())
                    .retry_after(1);
            }
            BackendError::TooManyContainers { .. } | BackendError::TooManySandboxes { .. } => {
                (S::TOO_MANY_REQUESTS, "SANDBOX::QUOTA_EXCEEDED")
            }
            BackendError::NoSuchContainer(_) => (S::NOT_FOUND, "DOCKER::SANDBOX_NOT_FOUND"),
            BackendError::Paused => return Self::not_running(),
            BackendError::NoSuchContext(_) | BackendError::NoSuchFile(_) | BackendError::NoSuchProcess(_) => {
                (S::NOT_FOUND, "SANDBOX::NOT_FOUND")
            }
            BackendError::ContextExists(_)
            | BackendError::TooManyContexts { .. }
            | BackendError::Exists(_) => (S::CONFLICT, INVALID_PARAMETER),
            BackendError::CodeTooLarge { .. } | BackendError::FileTooLarge { .. } => {
                (S::PAYLOAD_TOO_LARGE, INVALID_PARAMETER)
            }
            BackendError::NoSpace(_) => (S::INSUFFICIENT_STORAGE, "SANDBOX::NO_SPACE"),
            BackendError::PortClosed(_) => (S::BAD_GATEWAY, "BACKEND_CONNECTION_FAILED"),
            BackendError::Unsupported(_) => (S::NOT_IMPLEMENTED, NOT_SUPPORTED),
            BackendError::NoSuchLanguage { .. }
            | BackendError::Invalid(_)
            | BackendError::InvalidId(_)
            | BackendError::File { .. }
            | BackendError::IsFolder(_)
            | BackendError::NotAFolder(_)
            | BackendError::NoSuchBackend { .. }
            | BackendError::OtherBackend { .. }
            | BackendError::PermissionDenied(_) => (S::BAD_REQUEST, INVALID_PARAMETER),
            BackendError::NoSuchSandbox(_) | BackendError::Engine(_) => return Self::internal(&error),
        };
        Self::new(status, code, error.to_string())
    }
}

impl From<BytesRejection> for Refusal {
    fn from(rejection: BytesRejection) -> Self {
        if TooSlow::is_behind(&rejection) {
            return Self::new(StatusCode::REQUEST_TIMEOUT, INVALID_PARAMETER, TooSlow.to_string());
        }
        Self::new(rejection.status(), INVALID_PARAMETER, rejection.body_text())
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let body = match self.said {
            Said::Fields(problems) => json!({"detail": problems}),
            Said::Coded { code, mut message } => {
                if let Some((end, _)) = message.char_indices().nth(LONGEST_MESSAGE) {
                    message.truncate(end);
                    message.push('…');
                }
                json!({"code": code, "message": message})
            }
        };
        let mut response = (self.status, Json(body)).into_response();
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;

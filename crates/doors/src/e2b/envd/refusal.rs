//! Everything the agent's interface says no to, and the one place where that becomes a status and a body:
//! `{"code": 404, "message"}` for plain HTTP, `{"code": "not_found", "message"}` for calls.

use axum::http::StatusCode;
use axum::http::header::CONNECTION;
use axum::response::{IntoResponse, Json, Response};
use sandgate_core::BackendError;
use serde_json::{Value, json};

use crate::patience::TooSlow;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Invalid,
    NotFound,
    Exists,
    Unauthenticated,
    NotPermitted,
    NoSpace,
    TooLarge,
    TooMany,
    TooSlow,
    TooLate,
    Lost,
    Unsupported,
    BadRange,
    Internal,
    /// The sandbox itself is not there any more.
    Gone,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(super) struct Refusal {
    pub(super) kind: Kind,
    pub(super) message: String,
}

impl Kind {
    fn status(self) -> StatusCode {
        match self {
            Self::Invalid => StatusCode::BAD_REQUEST,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::Exists => StatusCode::CONFLICT,
            Self::Unauthenticated => StatusCode::UNAUTHORIZED,
            Self::NotPermitted => StatusCode::FORBIDDEN,
            Self::NoSpace => StatusCode::INSUFFICIENT_STORAGE,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::TooMany => StatusCode::TOO_MANY_REQUESTS,
            Self::TooSlow => StatusCode::REQUEST_TIMEOUT,
            Self::TooLate => StatusCode::GATEWAY_TIMEOUT,
            Self::Unsupported => StatusCode::NOT_IMPLEMENTED,
            Self::BadRange => StatusCode::RANGE_NOT_SATISFIABLE,
            Self::Lost | Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Gone => StatusCode::BAD_GATEWAY,
        }
    }

    /// The word for it in the Connect protocol, and the status that belongs to the word.
    fn word(self) -> (&'static str, StatusCode) {
        match self {
            Self::Invalid | Self::BadRange => ("invalid_argument", StatusCode::BAD_REQUEST),
            Self::NotFound => ("not_found", StatusCode::NOT_FOUND),
            Self::Exists => ("already_exists", StatusCode::CONFLICT),
            Self::Unauthenticated => ("unauthenticated", StatusCode::UNAUTHORIZED),
            Self::NotPermitted => ("permission_denied", StatusCode::FORBIDDEN),
            // Not `resource_exhausted`: clients take that for a rate limit and try again.
            Self::NoSpace => ("failed_precondition", StatusCode::BAD_REQUEST),
            Self::TooLarge | Self::TooMany => ("resource_exhausted", StatusCode::TOO_MANY_REQUESTS),
            Self::TooSlow | Self::TooLate => ("deadline_exceeded", StatusCode::GATEWAY_TIMEOUT),
            Self::Lost => ("data_loss", StatusCode::INTERNAL_SERVER_ERROR),
            Self::Unsupported => ("unimplemented", StatusCode::NOT_IMPLEMENTED),
            Self::Internal => ("internal", StatusCode::INTERNAL_SERVER_ERROR),
            Self::Gone => ("unavailable", StatusCode::SERVICE_UNAVAILABLE),
        }
    }
}

impl Refusal {
    pub(super) fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::new(Kind::Invalid, message)
    }

    /// The words clients look for when a sandbox has ended.
    pub(super) fn gone() -> Self {
        Self::new(Kind::Gone, "The sandbox was not found")
    }

    /// A body that broke off or came too slowly.
    pub(super) fn unreadable(error: &(dyn std::error::Error + 'static)) -> Self {
        if TooSlow::is_behind(error) {
            return Self::new(Kind::TooSlow, TooSlow.to_string());
        }
        Self::invalid(format!("the body cannot be read: {error}"))
    }

    /// As the answer to a plain request.
    pub(super) fn over_http(self, sandbox: &str) -> Response {
        let status = self.kind.status();
        let mut body = json!({ "code": status.as_u16(), "message": self.message });
        if self.kind == Kind::Gone
            && let Some(fields) = body.as_object_mut()
        {
            fields.insert("sandboxId".to_owned(), sandbox.into());
        }
        closing_if_unread(self.kind, (status, Json(body)).into_response())
    }

    /// As the answer to a call that has one.
    pub(super) fn over_connect(self, sandbox: &str) -> Response {
        if self.kind == Kind::Gone {
            return self.over_http(sandbox);
        }
        let (_, status) = self.kind.word();
        closing_if_unread(self.kind, (status, Json(self.connect_body())).into_response())
    }

    /// As it stands in the last frame of a stream.
    pub(super) fn connect_body(&self) -> Value {
        json!({ "code": self.kind.word().0, "message": self.message })
    }
}

/// What is left of a body nobody will read cannot be told from the next request.
fn closing_if_unread(kind: Kind, mut response: Response) -> Response {
    if matches!(kind, Kind::TooLarge | Kind::TooSlow | Kind::NoSpace) {
        response.headers_mut().insert(CONNECTION, axum::http::HeaderValue::from_static("close"));
    }
    response
}

impl From<BackendError> for Refusal {
    fn from(error: BackendError) -> Self {
        let kind = match &error {
            BackendError::NoSuchFile(path) => {
                return Self::new(Kind::NotFound, format!("path '{path}' does not exist"));
            }
            BackendError::IsFolder(path) => return Self::invalid(format!("path '{path}' is a directory")),
            BackendError::NotAFolder(path) => {
                return Self::invalid(format!("path '{path}' is not a directory"));
            }
            BackendError::Exists(path) => {
                return Self::new(Kind::Exists, format!("path already exists: {path}"));
            }
            BackendError::NoSuchContainer(_)
            | BackendError::NoSuchSandbox(_)
            | BackendError::Paused
            | BackendError::ShuttingDown => return Self::gone(),
            BackendError::Engine(reason) => {
                tracing::error!(%reason, "a request to a sandbox failed");
                return Self::new(Kind::Internal, "the sandbox engine failed; its log says why");
            }
            BackendError::NoSuchProcess(_) | BackendError::NoSuchContext(_) => Kind::NotFound,
            BackendError::ContextExists(_) => Kind::Exists,
            BackendError::PermissionDenied(_) => Kind::NotPermitted,
            BackendError::NoSpace(_) | BackendError::FileTooLarge { .. } => Kind::NoSpace,
            BackendError::CodeTooLarge { .. } => Kind::TooLarge,
            BackendError::Full { .. }
            | BackendError::TooManyContexts { .. }
            | BackendError::TooManyContainers { .. }
            | BackendError::TooManySandboxes { .. }
            | BackendError::TooManyExecutions { .. }
            | BackendError::Busy(_) => Kind::TooMany,
            BackendError::Unavailable { .. } => Kind::Internal,
            BackendError::PortClosed(_) | BackendError::Unsupported(_) => Kind::Unsupported,
            BackendError::NoSuchLanguage { .. }
            | BackendError::Invalid(_)
            | BackendError::InvalidId(_)
            | BackendError::NoSuchBackend { .. }
            | BackendError::OtherBackend { .. }
            | BackendError::File { .. } => Kind::Invalid,
        };
        Self::new(kind, error.to_string())
    }
}

#[cfg(test)]
#[path = "refusal_tests.rs"]
mod tests;

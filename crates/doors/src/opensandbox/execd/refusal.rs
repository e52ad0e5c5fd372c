//! Everything execd says no to, and the one place where that becomes a status and a body: `{"code", "message"}`.

use axum::http::header::{CONNECTION, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Json, Response};
use sandgate_core::BackendError;
use serde::Serialize;

use crate::lent::Broken;

/// A message repeats what the client sent; not all of it if that was much.
const LONGEST_MESSAGE: usize = 1000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) enum Code {
    #[serde(rename = "INVALID_REQUEST_BODY")]
    InvalidRequest,
    #[serde(rename = "MISSING_QUERY")]
    MissingQuery,
    #[serde(rename = "RUNTIME_ERROR")]
    Runtime,
    #[serde(rename = "INVALID_FILE")]
    InvalidFile,
    #[serde(rename = "INVALID_FILE_CONTENT")]
    InvalidFileContent,
    #[serde(rename = "INVALID_FILE_METADATA")]
    InvalidFileMetadata,
    #[serde(rename = "FILE_NOT_FOUND")]
    FileNotFound,
    #[serde(rename = "CONTEXT_NOT_FOUND")]
    ContextNotFound,
    #[serde(rename = "NOT_SUPPORTED")]
    NotSupported,
    #[serde(rename = "ALREADY_CONNECTED")]
    AlreadyConnected,
    #[serde(rename = "DOCKER::SANDBOX_NOT_FOUND")]
    SandboxNotFound,
    #[serde(rename = "UNKNOWN")]
    Unknown,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{message}")]
pub(super) struct Refusal {
    #[serde(skip)]
    status: StatusCode,
    code: Code,
    message: String,
    /// What is left of a body nobody will read cannot be told from the next request.
    #[serde(skip)]
    closes: bool,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, code: Code, message: impl Into<String>) -> Self {
        let mut message = message.into();
        if let Some((end, _)) = message.char_indices().nth(LONGEST_MESSAGE) {
            message.truncate(end);
            message.push('…');
        }
        Self { status, code, message, closes: false }
    }

    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, Code::InvalidRequest, message)
    }

    pub(super) fn missing(name: &str) -> Self {
        let message = format!("missing query parameter '{name}'");
        Self::new(StatusCode::BAD_REQUEST, Code::MissingQuery, message)
    }

    pub(super) fn runtime(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, Code::Runtime, message)
    }

    pub(super) fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, Code::ContextNotFound, message)
    }

    /// What cannot be had here at all.
    pub(super) fn unsupported(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, Code::NotSupported, message)
    }

    pub(super) fn too_many(message: impl Into<String>) -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, Code::Runtime, message)
    }

    pub(super) fn closing(self) -> Self {
        Self { closes: true, ..self }
    }

    /// The same, with words before it that say what failed.
    pub(super) fn in_words(mut self, before: &str) -> Self {
        self.message = format!("{before}{}", self.message);
        self
    }
}

impl From<Broken> for Refusal {
    fn from(broken: Broken) -> Self {
        let status = match broken {
            Broken::TooSlow => StatusCode::REQUEST_TIMEOUT,
            Broken::Unreadable(_) => StatusCode::BAD_REQUEST,
        };
        Self::new(status, Code::InvalidRequest, broken.to_string()).closing()
    }
}

impl From<BackendError> for Refusal {
    fn from(error: BackendError) -> Self {
        use StatusCode as S;
        let (status, code) = match &error {
            BackendError::NoSuchFile(path) => {
                return Self::new(S::NOT_FOUND, Code::FileNotFound, format!("file not found. {path}"));
            }
            BackendError::NoSuchContext(id) => return Self::not_found(format!("context {id} not found")),
            BackendError::NoSuchContainer(_) | BackendError::NoSuchSandbox(_) => {
                return Self::new(S::NOT_FOUND, Code::SandboxNotFound, "Sandbox not found.");
            }
            BackendError::Engine(reason) => {
                tracing::error!(%reason, "a request to a sandbox failed");
                return Self::runtime("the sandbox engine failed; the server's log says why");
            }
            // In the original's own code for what a file would not let be done.
            BackendError::IsFolder(_)
            | BackendError::NotAFolder(_)
            | BackendError::Exists(_)
            | BackendError::PermissionDenied(_)
            | BackendError::NoSpace(_)
            | BackendError::FileTooLarge { .. }
            | BackendError::File { .. }
            | BackendError::NoSuchProcess(_)
            | BackendError::ContextExists(_) => (S::INTERNAL_SERVER_ERROR, Code::Runtime),
            BackendError::NoSuchLanguage { .. } => (S::BAD_REQUEST, Code::NotSupported),
            BackendError::CodeTooLarge { .. } => (S::PAYLOAD_TOO_LARGE, Code::InvalidRequest),
            BackendError::Invalid(_)
            | BackendError::InvalidId(_)
            | BackendError::NoSuchBackend { .. }
            | BackendError::OtherBackend { .. } => (S::BAD_REQUEST, Code::InvalidRequest),
            BackendError::Paused => (S::CONFLICT, Code::Runtime),
            BackendError::TooManyContexts { .. }
            | BackendError::TooManyContainers { .. }
            | BackendError::TooManySandboxes { .. }
            | BackendError::TooManyExecutions { .. }
            | BackendError::Busy(_) => (S::TOO_MANY_REQUESTS, Code::Runtime),
            BackendError::Full { .. } | BackendError::ShuttingDown | BackendError::Unavailable { .. } => {
                (S::SERVICE_UNAVAILABLE, Code::Runtime)
            }
            BackendError::PortClosed(_) => (S::BAD_GATEWAY, Code::Runtime),
            BackendError::Unsupported(_) => (S::NOT_IMPLEMENTED, Code::NotSupported),
        };
        Self::new(status, code, error.to_string())
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(&self)).into_response();
        let headers = response.headers_mut();
        if self.closes {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        if matches!(self.status, StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS) {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("5"));
        }
        response
    }
}

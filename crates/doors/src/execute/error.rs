//! Everything this door says no to, and the one place where that becomes a status and a JSON body:
//! `{"error": {"message", "type", "param", "code"}}`.

use axum::extract::rejection::BytesRejection;
use axum::http::StatusCode;
use axum::http::header::{CONNECTION, RETRY_AFTER};
use axum::response::{IntoResponse, Json, Response};
use sandgate_core::BackendError;
use sandgate_gate::{Denial, NotRun};
use sandgate_store::StoreError;
use serde_json::{Value, json};

use crate::front::LimitHit;
use crate::openai::limit_word;
use crate::patience::TooSlow;
use crate::recorded::ErrorCode;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("the body is not UTF-8 text: byte {offset} fits no character")]
    NotUtf8 { offset: usize },
    #[error("the body is not valid JSON: {0}")]
    NotJson(String),
    #[error("the body must be a JSON object")]
    NotAnObject,
    #[error("send the body as JSON, with the header 'content-type: application/json'")]
    NotDeclaredJson,
    #[error("unknown field '{0}'")]
    UnknownField(String),
    #[error("the field '{0}' is missing")]
    Missing(&'static str),
    #[error("'{name}' must be {expected}, not {found}")]
    WrongType { name: &'static str, expected: &'static str, found: &'static str },
    #[error("{reason}")]
    BadValue { name: &'static str, reason: String },
    #[error("the body could not be read: {reason}")]
    Body { status: StatusCode, reason: String },
    #[error("{TooSlow}")]
    TooSlow,
    #[error("the server has as many connections as it may; close some or try again later")]
    TooManyConnections,
    #[error("this path does not take that method")]
    WrongMethod,
    #[error("'{host}' is not a local name; without keys this server answers to localhost only")]
    ForeignHost { host: String },
    #[error("the code was not run: {0}")]
    Denied(Denial),
    #[error("the server could not write down what it would have run, so nothing ran")]
    NotRecorded(StoreError),
    #[error(transparent)]
    Backend(#[from] BackendError),
}

impl From<NotRun> for Refusal {
    fn from(why: NotRun) -> Self {
        match why {
            NotRun::Denied(denial) => Self::Denied(denial),
            NotRun::Backend(error) => Self::Backend(error),
            NotRun::Store(error) => {
                tracing::error!(%error, "an execution could not be written down, so it was not run");
                Self::NotRecorded(error)
            }
        }
    }
}

impl From<BytesRejection> for Refusal {
    fn from(rejection: BytesRejection) -> Self {
        if TooSlow::is_behind(&rejection) {
            return Self::TooSlow;
        }
        Self::Body { status: rejection.status(), reason: rejection.body_text() }
    }
}

/// How a refusal looks outside.
struct Shape {
    status: StatusCode,
    code: &'static str,
    param: Option<String>,
}

fn shape(status: StatusCode, code: &'static str) -> Shape {
    Shape { status, code, param: None }
}

impl Shape {
    fn about(self, param: impl Into<String>) -> Self {
        Self { param: Some(param.into()), ..self }
    }
}

impl Refusal {
    fn shape(&self) -> Shape {
        use StatusCode as S;
        match self {
            Self::NotUtf8 { .. } => shape(S::BAD_REQUEST, "not_utf8"),
            Self::NotJson(_) => shape(S::BAD_REQUEST, "not_json"),
            Self::NotAnObject => shape(S::BAD_REQUEST, "not_an_object"),
            Self::NotDeclaredJson => shape(S::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type"),
            Self::UnknownField(name) => shape(S::BAD_REQUEST, "unknown_field").about(name),
            Self::Missing(name) => shape(S::BAD_REQUEST, "missing_field").about(*name),
            Self::WrongType { name, .. } => shape(S::BAD_REQUEST, "wrong_type").about(*name),
            Self::BadValue { name, .. } => shape(S::BAD_REQUEST, "invalid_value").about(*name),
            Self::Body { status: S::PAYLOAD_TOO_LARGE, .. } => shape(S::PAYLOAD_TOO_LARGE, "body_too_large"),
            Self::Body { status, .. } => shape(*status, "body_unreadable"),
            Self::TooSlow => shape(S::REQUEST_TIMEOUT, "body_too_slow"),
            Self::TooManyConnections => shape(S::SERVICE_UNAVAILABLE, "too_many_connections"),
            Self::WrongMethod => shape(S::METHOD_NOT_ALLOWED, "method_not_allowed"),
            Self::ForeignHost { .. } => shape(S::MISDIRECTED_REQUEST, "foreign_host"),
            Self::Denied(_) => shape(S::FORBIDDEN, "execution_denied"),
            Self::NotRecorded(_) => shape(S::SERVICE_UNAVAILABLE, "not_recorded"),
            Self::Backend(error) => backend_shape(error),
        }
    }

    /// The error as a client sees it. What the engine said of itself stays in the log.
    pub(super) fn body(&self) -> Value {
        let Shape { status, code, param } = self.shape();
        let internal = status == StatusCode::INTERNAL_SERVER_ERROR;
        let message = if internal {
            tracing::error!(error = %self, "an execution failed inside the server");
            "the sandbox engine failed; the server's log says why".to_owned()
        } else {
            self.to_string()
        };
        let kind = match status {
            StatusCode::TOO_MANY_REQUESTS => "rate_limit_error",
            status if status.is_server_error() => "server_error",
            _ => "invalid_request_error",
        };
        json!({"error": {"message": message, "type": kind, "param": param, "code": code}})
    }
}

fn backend_shape(error: &BackendError) -> Shape {
    use StatusCode as S;
    match error {
        BackendError::NoSuchContainer(_) => shape(S::NOT_FOUND, "container_not_found").about("container"),
        BackendError::NoSuchContext(_) => shape(S::NOT_FOUND, "context_not_found").about("context"),
        BackendError::ContextExists(_) => shape(S::CONFLICT, "context_exists").about("context"),
        BackendError::TooManyContexts { .. } => shape(S::CONFLICT, "too_many_contexts").about("context"),
        BackendError::NoSuchLanguage { .. } => shape(S::BAD_REQUEST, "unknown_language").about("language"),
        BackendError::CodeTooLarge { .. } => shape(S::PAYLOAD_TOO_LARGE, "code_too_large").about("code"),
        BackendError::Paused => shape(S::CONFLICT, "container_paused").about("container"),
        BackendError::Full { .. } => shape(S::SERVICE_UNAVAILABLE, "full"),
        BackendError::TooManyContainers { .. }
        | BackendError::TooManySandboxes { .. }
        | BackendError::TooManyExecutions { .. }
        | BackendError::Busy(_) => shape(S::TOO_MANY_REQUESTS, "rate_limit_exceeded"),
        BackendError::NoSuchBackend { .. } => shape(S::BAD_REQUEST, "unknown_backend").about("backend"),
        BackendError::OtherBackend { .. } => shape(S::FORBIDDEN, "backend_not_allowed").about("backend"),
        BackendError::Unavailable { .. } => shape(S::SERVICE_UNAVAILABLE, "backend_unavailable"),
        BackendError::ShuttingDown => shape(S::SERVICE_UNAVAILABLE, "shutting_down"),
        BackendError::Invalid(_) | BackendError::InvalidId(_) => shape(S::BAD_REQUEST, "invalid_request"),
        BackendError::NoSuchFile(_) => shape(S::NOT_FOUND, "file_not_found"),
        BackendError::File { .. }
        | BackendError::Exists(_)
        | BackendError::IsFolder(_)
        | BackendError::NotAFolder(_)
        | BackendError::PermissionDenied(_) => shape(S::BAD_REQUEST, "bad_file"),
        BackendError::NoSpace(_) => shape(S::INSUFFICIENT_STORAGE, "no_space"),
        BackendError::NoSuchProcess(_) => shape(S::NOT_FOUND, "process_not_found"),
        BackendError::PortClosed(_) => shape(S::BAD_GATEWAY, "port_closed"),
        BackendError::Unsupported(_) => shape(S::NOT_IMPLEMENTED, "unsupported"),
        BackendError::FileTooLarge { .. } => shape(S::PAYLOAD_TOO_LARGE, "file_too_large"),
        BackendError::NoSuchSandbox(_) | BackendError::Engine(_) => {
            shape(S::INTERNAL_SERVER_ERROR, "engine_failed")
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let Shape { status, code, .. } = self.shape();
        let mut response = (status, Json(self.body())).into_response();
        if matches!(self, Self::TooSlow | Self::TooManyConnections) {
            response.headers_mut().insert(CONNECTION, axum::http::HeaderValue::from_static("close"));
        }
        if matches!(status, StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS) {
            response.headers_mut().insert(RETRY_AFTER, axum::http::HeaderValue::from_static("5"));
        }
        response.extensions_mut().insert(ErrorCode(code.to_owned()));
        if let Self::Backend(error) = &self
            && let Some(limit) = limit_word(error)
        {
            response.extensions_mut().insert(LimitHit(limit));
        }
        response
    }
}

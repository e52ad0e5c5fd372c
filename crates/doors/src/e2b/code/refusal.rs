//! What the code interpreter says no to, and the one place where that becomes a status and a body: plain text,
//! which is what E2B's SDKs show. Of most statuses the one for JavaScript shows no more than the number, and the
//! text with 404 alone; so what is not there is a 404, languages too.

use axum::extract::rejection::BytesRejection;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::response::{IntoResponse, Response};
use sandgate_core::BackendError;

use super::super::error::E2bError;
use crate::patience::TooSlow;

/// Of an id that is said back.
const LONGEST_ID: usize = 200;

#[derive(Debug, thiserror::Error)]
pub(super) enum Refusal {
    #[error("Only one of context_id or language can be provided")]
    ContextAndLanguage,
    #[error("Context {0} not found")]
    NoSuchContext(String),
    #[error("the code interpreter has no such path")]
    NoSuchPath,
    #[error("this path does not take that method")]
    WrongMethod,
    #[error("send the body as JSON, with the header 'content-type: application/json'")]
    NotDeclaredJson,
    #[error("the body is not as it should be: {0}")]
    BadBody(String),
    #[error("the body could not be read: {reason}")]
    Unreadable { status: StatusCode, reason: String },
    #[error(transparent)]
    Backend(BackendError),
    /// The sandbox is not there any more, or not now.
    #[error("The sandbox was not found")]
    Gone(String),
}

impl Refusal {
    pub(super) fn no_such_context(id: &str) -> Self {
        Self::NoSuchContext(id.chars().take(LONGEST_ID).collect())
    }

    /// `sandbox`: the id of the one that was asked.
    pub(super) fn of(sandbox: &str) -> impl Fn(BackendError) -> Self {
        move |error| match error {
            BackendError::NoSuchContext(id) => Self::no_such_context(id.as_str()),
            BackendError::NoSuchContainer(_) | BackendError::NoSuchSandbox(_) | BackendError::Paused => {
                Self::Gone(sandbox.to_owned())
            }
            error => Self::Backend(error),
        }
    }

    fn status(&self) -> StatusCode {
        use StatusCode as S;
        match self {
            Self::ContextAndLanguage | Self::BadBody(_) => S::BAD_REQUEST,
            Self::NoSuchContext(_) | Self::NoSuchPath => S::NOT_FOUND,
            Self::WrongMethod => S::METHOD_NOT_ALLOWED,
            Self::NotDeclaredJson => S::UNSUPPORTED_MEDIA_TYPE,
            Self::Unreadable { status, .. } => *status,
            Self::Gone(_) => S::BAD_GATEWAY,
            Self::Backend(BackendError::NoSuchLanguage { .. }) => S::NOT_FOUND,
            Self::Backend(BackendError::CodeTooLarge { .. }) => S::PAYLOAD_TOO_LARGE,
            Self::Backend(BackendError::PermissionDenied(_)) => S::FORBIDDEN,
            Self::Backend(BackendError::TooManyContexts { .. }) => S::CONFLICT,
            Self::Backend(
                BackendError::TooManyExecutions { .. }
                | BackendError::Busy(_)
                | BackendError::TooManySandboxes { .. }
                | BackendError::TooManyContainers { .. },
            ) => S::TOO_MANY_REQUESTS,
            Self::Backend(
                BackendError::Full { .. } | BackendError::ShuttingDown | BackendError::Unavailable { .. },
            ) => S::SERVICE_UNAVAILABLE,
            Self::Backend(
                BackendError::Invalid(_) | BackendError::InvalidId(_) | BackendError::File { .. },
            ) => S::BAD_REQUEST,
            Self::Backend(BackendError::Unsupported(_)) => S::NOT_IMPLEMENTED,
            Self::Backend(_) => S::INTERNAL_SERVER_ERROR,
        }
    }
}

impl From<BytesRejection> for Refusal {
    fn from(rejection: BytesRejection) -> Self {
        if TooSlow::is_behind(&rejection) {
            return Self::Unreadable { status: StatusCode::REQUEST_TIMEOUT, reason: TooSlow.to_string() };
        }
        Self::Unreadable { status: rejection.status(), reason: rejection.body_text() }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status = self.status();
        if let Self::Gone(id) = &self {
            // As everywhere on the data plane: the SDKs look for these words.
            return E2bError::sandbox_gone(id).into_response();
        }
        let text = if status == StatusCode::INTERNAL_SERVER_ERROR {
            tracing::error!(error = %self, "the code interpreter failed inside the server");
            "the sandbox engine failed; the server's log says why".to_owned()
        } else {
            self.to_string()
        };
        let mut response = (status, [(CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response();
        if matches!(status, StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS) {
            response.headers_mut().insert(RETRY_AFTER, axum::http::HeaderValue::from_static("5"));
        }
        response
    }
}

//! What can go wrong with a page, and how it is said.

use axum::http::{HeaderValue, StatusCode, header::RETRY_AFTER};
use axum::response::{IntoResponse, Response};
use maud::html;
use sandgate_core::BackendError;
use sandgate_store::StoreError;

use crate::layout::{Page, bare};
use crate::visitor::Visitor;

#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum Problem {
    #[error("Sign in first.")]
    SignedOut,
    #[error("There is no such page, or what it was about is gone.")]
    NotFound,
    #[error("{0}")]
    Forbidden(&'static str),
    #[error(
        "This server has no keys, so it answers only to names of this machine, such as localhost or 127.0.0.1."
    )]
    ForeignHost,
    #[error(
        "This did not come from a page of this console, or its session is over. Load the page again, and repeat \
         what you did."
    )]
    NotFromHere,
    #[error("Too many wrong keys were tried. Try again in {0} seconds.")]
    TooOften(u64),
    #[error("That is too large.")]
    TooLarge,
    /// What a person wrote cannot be used, and why.
    #[error("{0}")]
    Invalid(String),
    /// It cannot be done as things are now.
    #[error("{0}")]
    Conflict(String),
    #[error("That did not work. The server's log says why.")]
    Internal,
}

impl Problem {
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::SignedOut => StatusCode::UNAUTHORIZED,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::Forbidden(_) | Self::ForeignHost | Self::NotFromHere => StatusCode::FORBIDDEN,
            Self::TooOften(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Invalid(_) => StatusCode::BAD_REQUEST,
            Self::Conflict(_) => StatusCode::CONFLICT,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    fn title(&self) -> &'static str {
        match self {
            Self::SignedOut => "Signed out",
            Self::NotFound => "Not found",
            Self::Forbidden(_) | Self::ForeignHost => "Not allowed",
            Self::NotFromHere => "Not done",
            Self::TooOften(_) => "Not now",
            Self::TooLarge | Self::Invalid(_) => "Not possible",
            Self::Conflict(_) => "Not possible now",
            Self::Internal => "Something failed",
        }
    }

    /// Within the frame that all pages have.
    pub(crate) fn shown_to(&self, visitor: &Visitor) -> Response {
        let body = html! {
            p.lead { (self) }
            p { a.button href="/console" { "To the first page" } }
        };
        self.with_status(Page::new(self.title(), visitor, body).into_response())
    }

    fn with_status(&self, mut response: Response) -> Response {
        *response.status_mut() = self.status();
        if let Self::TooOften(seconds) = self {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(*seconds));
        }
        response
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = html! {
            h1 { (self.title()) }
            p { (self) }
            p { a.button href="/console" { "To the console" } }
        };
        let mut response = self.with_status(bare(self.title(), None, &body).into_response());
        // The guard, which knows who asks, shows it as a page.
        response.extensions_mut().insert(self);
        response
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotFound => Self::NotFound,
            StoreError::TooSlow => {
                Self::Invalid("The search took too long. Look for less, or in less time.".to_owned())
            }
            other => {
                tracing::error!(error = %other, "the console could not use the store");
                Self::Internal
            }
        }
    }
}

impl From<BackendError> for Problem {
    fn from(error: BackendError) -> Self {
        match error {
            BackendError::NoSuchContainer(_)
            | BackendError::NoSuchSandbox(_)
            | BackendError::NoSuchContext(_)
            | BackendError::NoSuchFile(_) => Self::NotFound,
            BackendError::FileTooLarge { .. } | BackendError::CodeTooLarge { .. } => Self::TooLarge,
            BackendError::Engine(reason) => {
                tracing::error!(reason, "the console could not use a container");
                Self::Internal
            }
            other => Self::Conflict(format!("{other}.")),
        }
    }
}

//! What can go wrong between asking a provider and having its answer.

use std::time::Duration;

use http::StatusCode;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum HttpError {
    /// Nothing was sent.
    #[error("no connection ({0})")]
    Unreachable(String),
    #[error("the connection ended early ({0})")]
    Broken(String),
    #[error("nothing came for {seconds} s")]
    Silent { seconds: u64 },
    /// The provider answered, and not with success; its words, cut and without our secrets.
    #[error("status {}: {message}", status.as_u16())]
    Refused { status: StatusCode, code: Option<String>, message: String, retry_after: Option<Duration> },
    #[error("{what} is longer than {limit} bytes")]
    TooLong { what: &'static str, limit: usize },
    /// It answered with something that its protocol does not have.
    #[error("{0}")]
    Unreadable(String),
    /// What we were to send cannot be sent, or what was to be sent could not be read.
    #[error("{0}")]
    Ours(String),
}

impl HttpError {
    /// The provider's own word for what is wrong, where it has one.
    pub(crate) fn code(&self) -> Option<&str> {
        match self {
            Self::Refused { code, .. } => code.as_deref(),
            _ => None,
        }
    }

    pub(crate) fn status(&self) -> Option<StatusCode> {
        match self {
            Self::Refused { status, .. } => Some(*status),
            _ => None,
        }
    }
}

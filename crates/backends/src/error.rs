//! Everything that can go wrong between the gate and a provider. Code that raises is none of it.

use std::time::Duration;

pub type ProviderResult<T> = Result<T, ProviderError>;

/// Cloned where several wait for one answer. No variant may hold a key or a token: all of it is shown.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ProviderError {
    /// The sandbox is not there any more: its time was over, or the provider lost it.
    #[error("the provider no longer has the sandbox")]
    Lost,
    #[error("the provider does not know the context")]
    NoSuchContext,
    #[error("no such file or folder: {0}")]
    NoSuchFile(String),
    /// The file is there, and what was asked for cannot be done with it.
    #[error("{path}: {reason}")]
    File { path: String, reason: String },
    #[error("{what} is larger than {limit} bytes")]
    TooLarge { what: String, limit: u64 },
    /// The key is wrong, or may not do this.
    #[error("the provider does not accept the key: {0}")]
    Unauthorized(String),
    /// It understood, and said no: the same request would be refused again.
    #[error("the provider refused ({status}): {message}")]
    Refused { status: u16, message: String },
    #[error("the provider is asked too often, or has no room: {message}")]
    RateLimited { message: String, retry_after: Option<Duration> },
    /// It failed by its own word (a status of 500 and above, or an error in a stream).
    #[error("the provider failed: {0}")]
    Failed(String),
    /// No connection, or one that broke.
    #[error("the provider cannot be reached: {0}")]
    Unreachable(String),
    #[error("the provider did not answer within {} s: {what}", after.as_secs_f32())]
    TimedOut { what: String, after: Duration },
    /// An answer its contract does not allow.
    #[error("the provider's answer makes no sense: {0}")]
    Garbage(String),
    #[error("{0} cannot be done on this backend")]
    Unsupported(&'static str),
}

impl ProviderError {
    /// It says something about the provider, not about what was asked: what a circuit breaker counts.
    #[must_use]
    pub fn is_outage(&self) -> bool {
        match self {
            Self::Unauthorized(_)
            | Self::Failed(_)
            | Self::Unreachable(_)
            | Self::TimedOut { .. }
            | Self::Garbage(_) => true,
            Self::Lost
            | Self::NoSuchContext
            | Self::NoSuchFile(_)
            | Self::File { .. }
            | Self::TooLarge { .. }
            | Self::RateLimited { .. }
            | Self::Refused { .. }
            | Self::Unsupported(_) => false,
        }
    }
}

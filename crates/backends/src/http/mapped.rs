//! What went wrong on the way, as all providers say it.

use std::time::Duration;

use http::StatusCode;

use super::{Answer, Call, HttpClient, HttpError};
use crate::{ProviderError, ProviderResult};

impl HttpClient {
    /// About one sandbox: 404 means that there is none.
    pub(crate) async fn of_sandbox(&self, call: Call) -> ProviderResult<Answer> {
        self.demand(call).await.map_err(of_sandbox)
    }

    /// The same, where only success counts.
    pub(crate) async fn order(&self, call: Call) -> ProviderResult<()> {
        self.of_sandbox(call).await?.done().await;
        Ok(())
    }

    /// The same, where it is as well if there is none.
    pub(crate) async fn delete(&self, call: Call) -> ProviderResult<()> {
        match self.order(call).await {
            Err(ProviderError::Lost) => Ok(()),
            other => other,
        }
    }
}

pub(crate) fn of_sandbox(error: HttpError) -> ProviderError {
    match error.status() {
        Some(StatusCode::NOT_FOUND) => ProviderError::Lost,
        _ => error.into(),
    }
}

/// In what code prints: that there is too much of it is the code's doing, and no fault of the provider.
pub(crate) fn of_output(error: HttpError) -> ProviderError {
    match error {
        HttpError::TooLong { limit, .. } => {
            ProviderError::TooLarge { what: "the output".to_owned(), limit: limit as u64 }
        }
        error => error.into(),
    }
}

impl From<HttpError> for ProviderError {
    fn from(error: HttpError) -> Self {
        match error {
            HttpError::Unreachable(cause) => Self::Unreachable(format!("no connection ({cause})")),
            HttpError::Broken(_) | HttpError::Ours(_) => Self::Unreachable(error.to_string()),
            HttpError::Silent { seconds } => {
                Self::TimedOut { what: "nothing came".to_owned(), after: Duration::from_secs(seconds) }
            }
            HttpError::Refused { status, message, retry_after, .. } => refused(status, message, retry_after),
            HttpError::TooLong { .. } | HttpError::Unreadable(_) => Self::Garbage(error.to_string()),
        }
    }
}

fn refused(status: StatusCode, message: String, retry_after: Option<Duration>) -> ProviderError {
    match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => ProviderError::Unauthorized(message),
        StatusCode::TOO_MANY_REQUESTS => ProviderError::RateLimited { message, retry_after },
        status if status.is_server_error() => {
            ProviderError::Failed(format!("status {}: {message}", status.as_u16()))
        }
        // A redirect is not followed: it may lead anywhere.
        status if status.is_redirection() => {
            ProviderError::Garbage(format!("status {}, which would lead elsewhere", status.as_u16()))
        }
        status => ProviderError::Refused { status: status.as_u16(), message },
    }
}

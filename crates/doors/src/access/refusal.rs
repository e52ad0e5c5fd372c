//! Who is not let in, and why, in the words OpenAI's own server uses.

use std::time::Duration;

use axum::http::StatusCode;
use sandgate_store::StoreError;

use crate::openai::ApiError;

#[derive(Debug)]
pub(crate) enum NotLetIn {
    NoKey,
    /// Unknown, or revoked: whoever has it need not know which. `shown` is how it begins.
    Wrong {
        shown: String,
    },
    Expired {
        shown: String,
    },
    TooOften {
        limit: u32,
        wait: Duration,
    },
    Store(StoreError),
}

/// Of a key that was refused, how much is said back.
const SHOWN: usize = 5;
/// A shorter one would be half given away by that.
const LEAST: usize = 12;

fn shown(secret: &str) -> String {
    let plain = secret.len() >= LEAST && secret.bytes().all(|byte| byte.is_ascii_graphic());
    format!("{}***", if plain { &secret[..SHOWN] } else { "" })
}

impl NotLetIn {
    pub(super) fn wrong(secret: &str) -> Self {
        Self::Wrong { shown: shown(secret) }
    }

    pub(super) fn expired(secret: &str) -> Self {
        Self::Expired { shown: shown(secret) }
    }
}

impl From<StoreError> for NotLetIn {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<NotLetIn> for ApiError {
    fn from(refusal: NotLetIn) -> Self {
        let unauthorized =
            |message: String| Self::new(StatusCode::UNAUTHORIZED, message).coded("invalid_api_key");
        match refusal {
            NotLetIn::NoKey => Self::new(
                StatusCode::UNAUTHORIZED,
                "You didn't provide an API key. You need to provide your API key in an Authorization header \
                 using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).",
            ),
            NotLetIn::Wrong { shown } => unauthorized(format!("Incorrect API key provided: {shown}.")),
            NotLetIn::Expired { shown } => {
                unauthorized(format!("The API key provided has expired: {shown}."))
            }
            NotLetIn::TooOften { limit, wait } => Self::too_many(
                format!("Rate limit reached: this key may make {limit} requests per minute."),
                wait,
            ),
            NotLetIn::Store(error) => error.into(),
        }
    }
}

pub(super) fn forbidden(message: &str) -> ApiError {
    ApiError::new(StatusCode::FORBIDDEN, message).coded("insufficient_permissions")
}

#[cfg(test)]
#[path = "refusal_tests.rs"]
mod tests;

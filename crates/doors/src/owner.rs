//! Whose request it is: whoever holds the key it came with. The same for every door, so that what one
//! door makes the others find.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use sandgate_core::Owner;

/// The owner a request acts for.
#[derive(Clone, Debug)]
pub(crate) struct Caller(pub(crate) Owner);

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        Ok(Self(owner(&parts.headers)))
    }
}

fn owner(headers: &HeaderMap) -> Owner {
    let Some(value) = headers.get(AUTHORIZATION) else { return Owner::anonymous() };
    let value = String::from_utf8_lossy(value.as_bytes());
    let value = value.trim();
    // Any other scheme is a secret too: whoever sends the same is the same.
    let key = match value.split_once(' ') {
        Some((scheme, key)) if scheme.eq_ignore_ascii_case("bearer") => key.trim(),
        _ if value.eq_ignore_ascii_case("bearer") => "",
        _ => value,
    };
    if key.is_empty() { Owner::anonymous() } else { Owner::of_key(key) }
}

#[cfg(test)]
#[path = "owner_tests.rs"]
mod tests;

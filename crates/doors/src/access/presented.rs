//! The key in a request's head.

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use sandgate_core::Owner;

/// What was sent as a key; None if nothing was.
pub(super) fn presented(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(AUTHORIZATION)?;
    let value = String::from_utf8_lossy(value.as_bytes());
    let value = value.trim();
    // Any other scheme is a secret too: whoever sends the same is the same.
    let key = match value.split_once(' ') {
        Some((scheme, key)) if scheme.eq_ignore_ascii_case("bearer") => key.trim(),
        _ if value.eq_ignore_ascii_case("bearer") => "",
        _ => value,
    };
    (!key.is_empty()).then(|| key.to_owned())
}

/// At a server without keys, whoever sends the same is the same.
pub(crate) fn open_owner(headers: &HeaderMap) -> Owner {
    presented(headers).map_or_else(Owner::anonymous, |key| Owner::of_key(&key))
}

#[cfg(test)]
#[path = "presented_tests.rs"]
mod tests;

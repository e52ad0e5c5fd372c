//! The key in a request's head.

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use sandgate_core::Owner;

/// Where clients made for Azure put it.
const API_KEY: &str = "api-key";

/// What was sent as a key; None if nothing was.
pub(crate) fn presented(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(AUTHORIZATION).or_else(|| headers.get(API_KEY))?;
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

/// The same where clients put it that send a header of their own.
pub(crate) fn presented_in(headers: &HeaderMap, name: &str) -> Option<String> {
    let key = headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).trim().to_owned());
    key.filter(|key| !key.is_empty()).or_else(|| presented(headers))
}

/// At a server without keys, whoever sends the same is the same.
pub(crate) fn open_owner(key: Option<&str>) -> Owner {
    key.map_or_else(Owner::anonymous, Owner::of_key)
}

#[cfg(test)]
#[path = "presented_tests.rs"]
mod tests;

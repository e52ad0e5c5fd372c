//! Who programs in a sandbox run as: `user`, and nobody else.

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::refusal::{Kind, Refusal};

const USER: &str = "user";
pub(super) use crate::lent::home::HOME;

/// As named in a query or a body; absent means the default.
pub(super) fn check(name: Option<&str>) -> Result<(), Refusal> {
    match name {
        None | Some("" | USER) => Ok(()),
        Some(other) => Err(unknown(other)),
    }
}

/// As named by a call: `Authorization: Basic`, without a password.
pub(super) fn of_call(headers: &HeaderMap) -> Result<(), Refusal> {
    let Some(value) = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()) else { return Ok(()) };
    let Some((scheme, credentials)) = value.split_once(' ') else { return Ok(()) };
    if !scheme.eq_ignore_ascii_case("basic") {
        return Ok(());
    }
    let decoded = STANDARD.decode(credentials.trim()).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let named = decoded.ok_or_else(|| Refusal::new(Kind::Unauthenticated, "the user cannot be read"))?;
    check(Some(named.split(':').next().unwrap_or_default()))
}

fn unknown(name: &str) -> Refusal {
    let name: String = name.chars().take(100).collect();
    let message = format!("invalid username: '{name}'; sandboxes here have one user, '{USER}', and no root");
    Refusal::new(Kind::Unauthenticated, message)
}

#[cfg(test)]
#[path = "user_tests.rs"]
mod tests;

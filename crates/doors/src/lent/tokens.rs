//! A sandbox's own tokens: the way into it carries no key of ours, so each request shows one of these.

use axum::http::HeaderMap;
use sandgate_core::random_alphanumeric;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// More than anybody can guess.
const TOKEN_LENGTH: usize = 40;

/// `kind`: what it begins with, to tell one from another.
pub(crate) fn new_token(kind: &str) -> String {
    format!("{kind}_{}", random_alphanumeric(TOKEN_LENGTH))
}

/// Takes the same time wherever the two differ. An empty token is nobody's.
pub(crate) fn same(known: &str, shown: &str) -> bool {
    !known.is_empty() && bool::from(Sha256::digest(known.as_bytes()).ct_eq(&Sha256::digest(shown.as_bytes())))
}

/// What a request shows of the token of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    Right,
    Wrong,
    Nothing,
}

pub(crate) fn shown(headers: &HeaderMap, name: &str, known: &str) -> Shown {
    match headers.get(name).filter(|value| !value.is_empty()) {
        None => Shown::Nothing,
        Some(value) if value.to_str().is_ok_and(|value| same(known, value)) => Shown::Right,
        Some(_) => Shown::Wrong,
    }
}

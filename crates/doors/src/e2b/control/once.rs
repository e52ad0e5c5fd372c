//! A request to create that is sent twice under one `Idempotency-Key` makes one sandbox.

use axum::http::HeaderMap;
use sha2::{Digest, Sha256};

use super::super::error::{E2bError, E2bResult};

const HEADER: &str = "idempotency-key";
const LONGEST: usize = 255;

/// The key a request came with.
pub(super) fn key(headers: &HeaderMap) -> E2bResult<Option<String>> {
    let Some(value) = headers.get(HEADER) else { return Ok(None) };
    let plain = |text: &&str| {
        !text.is_empty() && text.len() <= LONGEST && text.bytes().all(|byte| byte.is_ascii_graphic())
    };
    match value.to_str().ok().filter(plain) {
        Some(key) => Ok(Some(key.to_owned())),
        None => Err(E2bError::bad_request(format!(
            "the header Idempotency-Key must be 1 to {LONGEST} letters, digits or '-'"
        ))),
    }
}

/// What tells two bodies apart.
pub(super) fn digest(body: &[u8]) -> String {
    Sha256::digest(body).iter().map(|byte| format!("{byte:02x}")).collect()
}

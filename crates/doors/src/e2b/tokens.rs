//! The sandbox's own tokens: the data plane carries no key of ours, so each request shows one of these.

use axum::http::{HeaderMap, Method, Uri};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use sandgate_core::now_ms;
use sha2::{Digest, Sha256};

use super::details::Details;
use crate::lent::{Shown, new_token, same, shown};

pub(super) const ENVD_HEADER: &str = "x-access-token";
pub(super) const TRAFFIC_HEADER: &str = "e2b-traffic-access-token";

pub(super) fn envd_token() -> String {
    new_token("ea")
}

pub(super) fn traffic_token() -> String {
    new_token("ta")
}

/// The signature of a URL to a file.
#[derive(Debug, Default)]
pub(super) struct Signed {
    path: String,
    username: String,
    signature: String,
    expiration: Option<String>,
    operation: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signature {
    Good,
    Wrong,
    Expired,
}

impl Signed {
    /// None: it is no request for a file, or it is not signed.
    pub(super) fn of(method: &Method, path: &str, uri: &Uri) -> Option<Self> {
        let operation = match *method {
            Method::GET | Method::HEAD => "read",
            Method::POST => "write",
            _ => return None,
        };
        if path != "/files" {
            return None;
        }
        let mut signed = Self { operation, ..Self::default() };
        for (name, value) in super::route::query(uri) {
            match name.as_str() {
                "path" => signed.path = value,
                "username" => signed.username = value,
                "signature" => signed.signature = value,
                "signature_expiration" => signed.expiration = Some(value),
                _ => {}
            }
        }
        (!signed.signature.is_empty()).then_some(signed)
    }

    /// Whether the holder of this token signed it.
    pub(super) fn check(&self, token: &str) -> Signature {
        let Self { path, operation, username, signature, expiration } = self;
        let expected = self::sign(path, operation, username, token, expiration.as_deref());
        if token.is_empty() || !same(&expected, signature) {
            return Signature::Wrong;
        }
        match expiration {
            None => Signature::Good,
            // Signed as it stands, so a number that cannot be read is the signer's own.
            Some(seconds) => match seconds.parse::<u64>() {
                Ok(seconds) if seconds > now_ms() / 1000 => Signature::Good,
                _ => Signature::Expired,
            },
        }
    }
}

pub(super) fn sign(
    path: &str,
    operation: &str,
    username: &str,
    token: &str,
    expiration: Option<&str>,
) -> String {
    let mut text = format!("{path}:{operation}:{username}:{token}");
    if let Some(expiration) = expiration {
        text.push(':');
        text.push_str(expiration);
    }
    format!("v1_{}", STANDARD_NO_PAD.encode(Sha256::digest(text.as_bytes())))
}

/// Whether a request may reach this port other than envd's. The code interpreter also takes envd's token, which
/// its older clients send and nothing else.
pub(super) fn opens_port(details: &Details, headers: &HeaderMap, is_code: bool, open_ports: bool) -> bool {
    match shown(headers, TRAFFIC_HEADER, &details.traffic_token) {
        Shown::Right => true,
        Shown::Wrong => false,
        Shown::Nothing => {
            let by_envd_token = is_code && shown(headers, ENVD_HEADER, &details.envd_token) == Shown::Right;
            by_envd_token || (open_ports && !details.is_private())
        }
    }
}

#[cfg(test)]
#[path = "tokens_tests.rs"]
mod tests;

//! Without keys, what protects the server is that only this machine reaches it. A browser on
//! this machine does too, with any page that has its own name point here (DNS rebinding); so the name
//! a request asks for must be a local one.

use std::net::IpAddr;

use axum::http::HeaderMap;
use axum::http::header::HOST;
use axum::http::uri::Authority;

use crate::execute::Refusal;

/// Why a request to a server without keys is refused, if it asks for a name that is not local.
pub(crate) fn foreign_host(headers: &HeaderMap) -> Option<Refusal> {
    // No browser leaves the header out.
    let host = headers.get(HOST)?;
    if host.to_str().is_ok_and(is_local) {
        return None;
    }
    Some(Refusal::ForeignHost { host: String::from_utf8_lossy(host.as_bytes()).into_owned() })
}

fn is_local(host: &str) -> bool {
    let Ok(authority) = host.parse::<Authority>() else { return false };
    let name = authority.host().trim_start_matches('[').trim_end_matches(']');
    match name.parse::<IpAddr>() {
        Ok(address) => address.is_loopback(),
        Err(_) => name.eq_ignore_ascii_case("localhost"),
    }
}

#[cfg(test)]
#[path = "local_tests.rs"]
mod tests;

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
    if is_of_this_machine(headers) {
        return None;
    }
    let host = headers.get(HOST)?;
    Some(Refusal::ForeignHost { host: String::from_utf8_lossy(host.as_bytes()).into_owned() })
}

/// Whether a request asks for a name of this machine.
#[must_use]
pub fn is_of_this_machine(headers: &HeaderMap) -> bool {
    // No browser leaves the header out.
    headers.get(HOST).is_none_or(|host| host.to_str().is_ok_and(is_local))
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

//! Until there are keys, what protects the server is that only this machine reaches it. A browser on
//! this machine does too, with any page that has its own name point here (DNS rebinding); so the name
//! a request asks for must be a local one.

use std::net::IpAddr;

use axum::extract::Request;
use axum::http::header::HOST;
use axum::http::uri::Authority;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::execute::Refusal;

pub(crate) async fn only_local_names(request: Request, next: Next) -> Response {
    match request.headers().get(HOST) {
        Some(host) if !host.to_str().is_ok_and(is_local) => {
            let host = String::from_utf8_lossy(host.as_bytes()).into_owned();
            Refusal::ForeignHost { host }.into_response()
        }
        // No browser leaves the header out.
        Some(_) | None => next.run(request).await,
    }
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

//! Headers that belong to one connection, and the one that names a host.

use http::{HeaderMap, HeaderName, Request, header};

const OF_THE_CONNECTION: [HeaderName; 6] = [
    header::CONNECTION,
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// Takes out what is between a program and this proxy alone.
pub(super) fn remove_own(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named.iter().chain(&OF_THE_CONNECTION) {
        headers.remove(name);
    }
    for name in ["keep-alive", "proxy-connection"] {
        headers.remove(name);
    }
}

/// The protocol a request wants to change to, of those that pass. Behind others, such as HTTP/2, requests for other
/// hosts could hide.
pub(super) fn upgrade<B>(request: &Request<B>) -> Option<http::HeaderValue> {
    let headers = request.headers();
    let asked = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .any(|value| value.split(',').any(|word| word.trim().eq_ignore_ascii_case("upgrade")));
    let passes = |protocol: &&http::HeaderValue| protocol.as_bytes().eq_ignore_ascii_case(b"websocket");
    headers.get(header::UPGRADE).filter(passes).filter(|_| asked).cloned()
}

/// The one host that a request names in its header. Two, or something unreadable, are an error.
pub(super) fn host<B>(request: &Request<B>) -> Result<Option<&str>, ()> {
    let mut hosts = request.headers().get_all(header::HOST).iter();
    match (hosts.next(), hosts.next()) {
        (None, _) => Ok(None),
        (Some(host), None) => host.to_str().map(Some).map_err(|_| ()),
        (Some(_), Some(_)) => Err(()),
    }
}

/// `host`, `host:port` or `[v6]:port`, taken apart. None: not of this form.
#[must_use]
pub fn split(authority: &str) -> Option<(&str, Option<u16>)> {
    let end = match authority.strip_prefix('[') {
        Some(rest) => rest.find(']')? + 2,
        None => authority.find(':').unwrap_or(authority.len()),
    };
    let (host, port) = authority.split_at(end);
    if port.is_empty() {
        return Some((host, None));
    }
    let digits = port.strip_prefix(':')?;
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| digits.parse().ok()).flatten().filter(|port| *port > 0).map(|port| (host, Some(port)))
}

#[cfg(test)]
#[path = "headers_tests.rs"]
mod tests;

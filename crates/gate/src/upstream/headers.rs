//! Which headers travel and which belong to one connection only.

use ::http::{HeaderMap, HeaderName, header};

/// Headers about a connection, not about what it carries (RFC 9110, 7.6.1), and those that would be
/// wrong on the next one.
const HOP_BY_HOP: [&str; 9] = [
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

pub(super) fn remove_hop_by_hop(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|list| list.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named {
        headers.remove(name);
    }
    for name in HOP_BY_HOP {
        headers.remove(name);
    }
}

/// The part of an answer's headers that means something to the client of a turn.
pub(super) fn useful(headers: &HeaderMap) -> HeaderMap {
    headers
        .iter()
        .filter(|(name, _)| is_useful(name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

fn is_useful(name: &str) -> bool {
    matches!(name, "retry-after" | "retry-after-ms" | "x-request-id" | "x-should-retry")
        || name.starts_with("x-ratelimit-")
        || name.starts_with("openai-")
}

#[cfg(test)]
#[path = "headers_tests.rs"]
mod tests;

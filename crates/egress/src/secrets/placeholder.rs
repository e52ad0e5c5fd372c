//! Where a placeholder may stand in a request, and how the value is written there.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderValue, Request, Uri};
use sandgate_core::Secret;
use sandgate_core::network::DomainSecret;

/// All texts of a request's head that may hold a placeholder, decoded where they are encoded.
pub(super) fn head_of<B>(request: &Request<B>) -> Vec<String> {
    let mut head = vec![request.uri().to_string()];
    for value in request.headers().values() {
        if let Ok(text) = value.to_str() {
            head.extend(basic(text));
            head.push(text.to_owned());
        }
    }
    head
}

pub(super) fn is_in(secret: &DomainSecret, text: &str) -> bool {
    text.contains(&secret.placeholder)
}

/// The user and password inside `Basic …`.
fn basic(text: &str) -> Option<String> {
    let (scheme, encoded) = text.split_once(' ')?;
    let decoded = scheme.eq_ignore_ascii_case("basic").then(|| STANDARD.decode(encoded.trim()).ok())??;
    String::from_utf8(decoded).ok()
}

pub(super) fn exchange<B>(request: &mut Request<B>, secret: &DomainSecret, value: &Secret) {
    for header in request.headers_mut().values_mut() {
        let Ok(text) = header.to_str() else { continue };
        let new = match basic(text).filter(|inside| is_in(secret, inside)) {
            Some(inside) => {
                let inside = inside.replace(&secret.placeholder, value.expose());
                format!("Basic {}", STANDARD.encode(inside))
            }
            None if is_in(secret, text) => text.replace(&secret.placeholder, value.expose()),
            None => continue,
        };
        // Values were checked to be fit for a header when they were given.
        if let Ok(mut new) = HeaderValue::try_from(new) {
            new.set_sensitive(true);
            *header = new;
        }
    }
    let uri = request.uri().to_string();
    if is_in(secret, &uri) {
        let new = uri.replace(&secret.placeholder, &percent_encoded(value.expose()));
        if let Ok(new) = new.parse::<Uri>() {
            *request.uri_mut() = new;
        }
    }
}

pub(super) fn percent_encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

#[cfg(test)]
#[path = "placeholder_tests.rs"]
mod tests;

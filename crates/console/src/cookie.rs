//! The cookies of the console: the session's token, and light or dark.

use axum::http::header::COOKIE;
use axum::http::{HeaderMap, HeaderValue};

/// Over plain HTTP, which is for this machine alone.
const PLAIN: &str = "sandgate_console";
/// With TLS. The prefix keeps pages of neighbouring names, such as those of sandboxes, from setting it. With it a
/// cookie is sent to every path; what is passed on, to an upstream or into a sandbox, is without cookies of ours.
const SECURE: &str = "__Host-sandgate_console";
/// Set by the browser itself.
const THEME: &str = "sandgate_theme";
/// That are looked at.
const MOST: usize = 8;

/// The tokens of a request. There may be several: neighbouring names and other ports of this machine can add some
/// of their own under the plain name, which therefore counts for nothing over TLS.
pub(crate) fn tokens(headers: &HeaderMap, is_tls: bool) -> impl Iterator<Item = &str> {
    let plain = all(headers, PLAIN).filter(move |_| !is_tls);
    all(headers, SECURE).chain(plain).take(MOST)
}

pub(crate) fn theme(headers: &HeaderMap) -> Option<&'static str> {
    match all(headers, THEME).next()? {
        "light" => Some("light"),
        "dark" => Some("dark"),
        _ => None,
    }
}

/// For the browser to keep until it is closed.
pub(crate) fn set(token: &str, is_tls: bool) -> Option<HeaderValue> {
    let (name, path, secure) = if is_tls { (SECURE, "/", "; Secure") } else { (PLAIN, "/console", "") };
    HeaderValue::try_from(format!("{name}={token}; Path={path}; HttpOnly; SameSite=Strict{secure}")).ok()
}

/// Whichever of them it has.
pub(crate) const FORGET: [HeaderValue; 2] = [
    HeaderValue::from_static("sandgate_console=; Path=/console; HttpOnly; SameSite=Strict; Max-Age=0"),
    HeaderValue::from_static(
        "__Host-sandgate_console=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0; Secure",
    ),
];

fn all<'a>(headers: &'a HeaderMap, name: &'static str) -> impl Iterator<Item = &'a str> {
    let texts = headers.get_all(COOKIE).iter().filter_map(|header| header.to_str().ok());
    let pairs = texts.flat_map(|text| text.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.filter(move |(found, _)| *found == name).map(|(_, value)| value)
}

#[cfg(test)]
#[path = "cookie_tests.rs"]
mod tests;

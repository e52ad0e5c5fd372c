//! The cookies of the console: the session's token, and light or dark.

use axum::http::header::COOKIE;
use axum::http::{HeaderMap, HeaderValue};

/// Over plain HTTP, which is for this machine alone.
const PLAIN: &str = "sandgate_console";
/// With TLS. The prefix keeps pages of neighbouring names from setting it. Not `__Host-`, which is sent to every
/// path, and what is passed on to an upstream should never have it.
const SECURE: &str = "__Secure-sandgate_console";
/// Set by the browser itself.
const THEME: &str = "sandgate_theme";

/// The token of a request.
pub(crate) fn token(headers: &HeaderMap) -> Option<&str> {
    get(headers, SECURE).or_else(|| get(headers, PLAIN))
}

pub(crate) fn theme(headers: &HeaderMap) -> Option<&'static str> {
    match get(headers, THEME)? {
        "light" => Some("light"),
        "dark" => Some("dark"),
        _ => None,
    }
}

/// For the browser to keep until it is closed.
pub(crate) fn set(token: &str, is_tls: bool) -> Option<HeaderValue> {
    let (name, secure) = if is_tls { (SECURE, "; Secure") } else { (PLAIN, "") };
    HeaderValue::try_from(format!("{name}={token}; Path=/console; HttpOnly; SameSite=Strict{secure}")).ok()
}

/// Whichever of them it has.
pub(crate) const FORGET: [HeaderValue; 2] = [
    HeaderValue::from_static("sandgate_console=; Path=/console; HttpOnly; SameSite=Strict; Max-Age=0"),
    HeaderValue::from_static(
        "__Secure-sandgate_console=; Path=/console; HttpOnly; SameSite=Strict; Max-Age=0; Secure",
    ),
];

fn get<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get_all(COOKIE).iter().find_map(|header| {
        let pairs = header.to_str().ok()?.split(';');
        pairs.filter_map(|pair| pair.trim().split_once('=')).find(|(found, _)| *found == name).map(|(_, v)| v)
    })
}

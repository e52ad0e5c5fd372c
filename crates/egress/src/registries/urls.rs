//! Addresses of registries, and of what their pages name.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderValue, Uri};

use super::guarded::Place;

/// A registry of the operator's.
pub(super) struct Source {
    /// Ends in a slash.
    base: String,
    /// What the address had as name and password.
    pub(super) authorization: Option<HeaderValue>,
}

/// Whether an address can be a registry's; the error is a sentence without the address.
pub fn check_registry(text: &str) -> Result<(), String> {
    Source::parse(text).map(drop)
}

impl Source {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        // Not repeated: it may hold a password.
        let wrong =
            || "the address of a package registry cannot be read; it must be an http or https URL".to_owned();
        let (scheme, rest) = text.trim().split_once("://").ok_or_else(wrong)?;
        let end = rest.find('/').unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let (account, host) =
            authority.rsplit_once('@').map_or((None, authority), |(account, host)| (Some(account), host));
        if !matches!(scheme, "http" | "https") || host.is_empty() {
            return Err(wrong());
        }
        let authorization = account.map(|account| {
            let mut value = HeaderValue::try_from(format!("Basic {}", STANDARD.encode(decoded(account))))
                .map_err(|_| wrong())?;
            value.set_sensitive(true);
            Ok::<_, String>(value)
        });
        let base = format!("{scheme}://{host}{}/", path.trim_end_matches('/'));
        base.parse::<Uri>().map_err(|_| wrong())?;
        Ok(Self { base, authorization: authorization.transpose()? })
    }

    pub(super) fn url(&self, rest: &str) -> String {
        format!("{}{rest}", self.base)
    }

    /// Where the registry itself is.
    pub(super) fn place(&self) -> Option<Place> {
        self.base.parse().ok().as_ref().and_then(super::guarded::place)
    }

    /// Whether the account is meant for this address too.
    pub(super) fn is_same_place(&self, url: &str) -> bool {
        place(&self.base).is_some() && place(&self.base) == place(url)
    }
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Source").field(&self.base).finish()
    }
}

/// Scheme and host.
fn place(url: &str) -> Option<&str> {
    let start = url.find("://")? + 3;
    let end = url[start..].find('/').map_or(url.len(), |at| start + at);
    Some(&url[..end])
}

fn decoded(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = text.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        match code.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    out
}

/// What a link on the page `from` leads to, if it stays with http. Never from https to http.
pub(super) fn join(from: &str, link: &str) -> Option<String> {
    let secure = from.starts_with("https://");
    let place = place(from)?;
    let whole = if link.starts_with("https://") || (link.starts_with("http://") && !secure) {
        link.to_owned()
    } else if let Some(rest) = link.strip_prefix("//") {
        format!("{}://{rest}", if secure { "https" } else { "http" })
    } else if link.contains("://") {
        return None;
    } else if link.starts_with('/') {
        format!("{place}{link}")
    } else {
        let path = from[place.len()..].split(['?', '#']).next().unwrap_or_default();
        let mut parts: Vec<&str> = path.split('/').collect();
        parts.pop();
        for part in link.split('/') {
            match part {
                ".." if parts.len() > 1 => drop(parts.pop()),
                "." | ".." => {}
                part => parts.push(part),
            }
        }
        format!("{place}{}", parts.join("/"))
    };
    let uri: Uri = whole.parse().ok()?;
    // An account in a link would be sent by whoever follows it.
    uri.authority().filter(|authority| !authority.as_str().contains('@'))?;
    Some(whole)
}

#[cfg(test)]
#[path = "urls_tests.rs"]
mod tests;

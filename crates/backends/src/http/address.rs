//! Where a provider is: scheme, host, port and the path before all others.

use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;

use http::Uri;
use http::uri::{Authority, Scheme};

use super::HttpError;

#[derive(Debug, thiserror::Error)]
#[error(
    "an address is wanted, such as https://host or http://host:8080/path, without a user, a query or a fragment"
)]
pub(crate) struct InvalidAddress;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    scheme: Scheme,
    authority: Authority,
    /// Without the slash at its end.
    path: String,
}

impl Address {
    pub(crate) fn parse(text: &str) -> Result<Self, InvalidAddress> {
        let text = text.trim();
        let parts = text.parse::<Uri>().map_err(|_| InvalidAddress)?.into_parts();
        let (Some(scheme), Some(authority)) = (parts.scheme, parts.authority) else {
            return Err(InvalidAddress);
        };
        let path =
            parts.path_and_query.as_ref().map_or("", |path| path.path()).trim_end_matches('/').to_owned();
        let has_query = parts.path_and_query.is_some_and(|path| path.query().is_some());
        let is_http = scheme == Scheme::HTTP || scheme == Scheme::HTTPS;
        if !is_http || has_query || text.contains('#') || authority.as_str().contains('@') {
            return Err(InvalidAddress);
        }
        Ok(Self { scheme, authority, path })
    }

    /// A name or an address that a provider gave: with this address's scheme, or with one of its own that hides no
    /// less.
    pub(crate) fn beside(&self, place: &str) -> Result<Self, InvalidAddress> {
        if !place.contains("://") {
            return Self::parse(&format!("{}://{place}", self.scheme));
        }
        let whole = Self::parse(place)?;
        if self.is_https() && !whole.is_https() { Err(InvalidAddress) } else { Ok(whole) }
    }

    /// An address of this machine, or one that only means something on it: no provider elsewhere has a reason to send
    /// anybody there.
    pub(crate) fn is_of_this_machine(&self) -> bool {
        let host = self.authority.host().trim_matches(['[', ']']);
        match host.parse::<IpAddr>() {
            Ok(IpAddr::V4(address)) => {
                address.is_loopback() || address.is_link_local() || address.is_unspecified()
            }
            Ok(IpAddr::V6(address)) => {
                let mapped = address.to_ipv4_mapped();
                address.is_loopback()
                    || address.is_unspecified()
                    || address.is_unicast_link_local()
                    || mapped.is_some_and(|address| address.is_loopback() || address.is_link_local())
            }
            Err(_) => host == "localhost" || host.ends_with(".localhost"),
        }
    }

    /// With its port, where one is written.
    pub(crate) fn host(&self) -> &str {
        self.authority.as_str()
    }

    pub(crate) fn is_https(&self) -> bool {
        self.scheme == Scheme::HTTPS
    }

    /// Whether what is sent to the one reaches the same server as what is sent to the other.
    pub(crate) fn is_same_server(&self, other: &Self) -> bool {
        self.scheme == other.scheme && self.authority == other.authority
    }

    /// `path` begins with a slash and is written as it goes out; names and values of the query are not yet.
    pub(crate) fn uri(&self, path: &str, query: &[(&str, &str)]) -> Result<Uri, HttpError> {
        self.uri_with(self.scheme.as_str(), path, query)
    }

    pub(crate) fn websocket_uri(&self, path: &str) -> Result<Uri, HttpError> {
        self.uri_with(if self.is_https() { "wss" } else { "ws" }, path, &[])
    }

    fn uri_with(&self, scheme: &str, path: &str, query: &[(&str, &str)]) -> Result<Uri, HttpError> {
        let mut text = format!("{scheme}://{}{}{path}", self.authority, self.path);
        if !query.is_empty() {
            text.push('?');
            let mut written = form_urlencoded::Serializer::new(String::new());
            text.push_str(&written.extend_pairs(query).finish());
        }
        text.parse().map_err(|_| HttpError::Ours("the address cannot be asked".to_owned()))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}{}", self.scheme, self.authority, self.path)
    }
}

/// One part of a path, whatever is in it: nothing leads out of its place.
pub(crate) fn path_segment(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'~' => written.push(char::from(byte)),
            // A dot is plain only where it cannot be the whole of "." or "..".
            b'.' if text.trim_matches('.').len() == text.len() => written.push('.'),
            other => written.push_str(&format!("%{other:02X}")),
        }
    }
    written
}

/// Each name and value percent-encoded, and all of that written as a form; the query encodes it once more.
pub(crate) fn nested_query(pairs: &BTreeMap<String, String>) -> String {
    let pairs = pairs.iter().map(|(name, value)| (path_segment(name), path_segment(value)));
    form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
}

/// Whether a provider's domain is one: labels, and a port at most.
pub(crate) fn is_host(text: &str) -> bool {
    let (name, port) = text.rsplit_once(':').map_or((text, None), |(name, port)| (name, Some(port)));
    let is_label = |label: &str| {
        !label.is_empty()
            && label.len() <= 63
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    name.len() <= 253 && name.split('.').all(is_label) && port.is_none_or(|port| port.parse::<u16>().is_ok())
}

//! What of a client's request, besides its body, a turn takes along: whose account it is paid from, where
//! the operator configured no key, and which behaviour of the upstream's is wanted.

use std::fmt;

use ::http::{HeaderMap, HeaderName, HeaderValue, header};

/// Headers that say on whose account, besides the key itself. With a key of the operator's they would
/// name somebody else's account, so they go only where the client's key goes.
const ACCOUNT: [&str; 3] = ["openai-organization", "openai-project", "api-key"];
/// Headers that say which behaviour is wanted, or on behalf of which program (OpenRouter). They are passed
/// on in any case.
const BEHAVIOUR: [&str; 9] = [
    "openai-beta",
    "anthropic-beta",
    "anthropic-version",
    "http-referer",
    "x-title",
    "x-openrouter-title",
    "x-openrouter-categories",
    TRACE[0],
    TRACE[1],
];
/// Headers that say to which trace a request belongs (W3C Trace Context).
const TRACE: [&str; 2] = ["traceparent", "tracestate"];

/// What of a client's headers and its query may travel to the upstream.
#[derive(Clone, Default)]
pub struct Credentials {
    authorization: Option<HeaderValue>,
    query: Option<String>,
    extra: Vec<(HeaderName, HeaderValue)>,
}

impl Credentials {
    #[must_use]
    pub fn from_headers(headers: &HeaderMap) -> Self {
        let authorization = headers.get(header::AUTHORIZATION).cloned().map(sensitive);
        let extra = headers
            .iter()
            .filter(|(name, _)| is_account(name) || BEHAVIOUR.contains(&name.as_str()))
            .map(|(name, value)| {
                let value = if name == "api-key" { sensitive(value.clone()) } else { value.clone() };
                (name.clone(), value)
            })
            .collect();
        Self { authorization, query: None, extra }
    }

    /// With what stands after the `?`: nothing there is ours, and some upstreams want their version there.
    #[must_use]
    pub fn with_query(self, query: Option<&str>) -> Self {
        Self { query: query.filter(|query| !query.is_empty()).map(str::to_owned), ..self }
    }

    pub(super) fn query(&self) -> Option<&str> {
        self.query.as_deref()
    }

    #[must_use]
    pub fn authorization(&self) -> Option<&HeaderValue> {
        self.authorization.as_ref()
    }

    /// The trace to which the upstream's part belongs, in place of what the client said.
    pub(crate) fn trace(&mut self, headers: &HeaderMap) {
        self.extra.retain(|(name, _)| !TRACE.contains(&name.as_str()));
        self.extra.extend(headers.iter().map(|(name, value)| (name.clone(), value.clone())));
    }

    /// Puts them on a request: the operator's key in place of the client's account, where there is one.
    pub(super) fn put_on(&self, headers: &mut HeaderMap, configured: Option<&HeaderValue>) {
        for (name, value) in &self.extra {
            if configured.is_none() || !is_account(name) {
                headers.append(name.clone(), value.clone());
            }
        }
        if let Some(authorization) = configured.or(self.authorization.as_ref()) {
            headers.insert(header::AUTHORIZATION, authorization.clone());
        }
    }
}

/// Takes the client's account off a request that goes out under the operator's key.
pub(super) fn remove_account(headers: &mut HeaderMap) {
    headers.remove(header::AUTHORIZATION);
    for name in ACCOUNT {
        headers.remove(name);
    }
}

/// The keys among configured headers: with one of them it is the operator's account that is asked.
pub(super) fn names_account(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let keys = [header::AUTHORIZATION.as_str(), "api-key", "x-api-key"];
    // The scheme before a key is no secret.
    let words = keys.into_iter().filter_map(|name| headers.get(name)?.to_str().ok()?.split(' ').next_back());
    words.filter(|key| !key.is_empty())
}

/// A header value that is never printed.
pub(super) fn sensitive(mut value: HeaderValue) -> HeaderValue {
    value.set_sensitive(true);
    value
}

fn is_account(name: &HeaderName) -> bool {
    ACCOUNT.contains(&name.as_str())
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.extra.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Credentials")
            .field("authorization", &self.authorization.as_ref().map(|_| "…"))
            .field("query", &self.query.as_ref().map(|_| "…"))
            .field("extra", &names)
            .finish()
    }
}

#[cfg(test)]
#[path = "credentials_tests.rs"]
mod tests;

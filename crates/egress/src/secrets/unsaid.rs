//! What must not come inside from a domain, in texts and in the names of headers.

use std::fmt;
use std::sync::Arc;

use http::{HeaderMap, HeaderName, HeaderValue};
use sandgate_core::network::DomainSecret;

use super::forms::forms;
use super::search::Search;

pub(crate) struct Unsaid {
    pub(super) text: Arc<Search>,
    /// In small letters, as names of headers are the same in any.
    names: Search,
}

impl fmt::Debug for Unsaid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Unsaid")
    }
}

impl Unsaid {
    pub(crate) fn new<'a>(secrets: impl Iterator<Item = &'a DomainSecret>) -> Self {
        let (mut text, mut names) = (Vec::new(), Vec::new());
        for secret in secrets {
            let Some(value) = &secret.value else { continue };
            for form in forms(value.expose()) {
                // What has other characters cannot stand in a name.
                names.extend(
                    HeaderName::from_bytes(&form).is_ok().then(|| (form.to_ascii_lowercase(), Vec::new())),
                );
                text.push((form, secret.placeholder.as_bytes().to_vec()));
            }
        }
        Self { text: Arc::new(Search::new(text)), names: Search::new(names) }
    }

    /// Placeholders instead of values. A header whose name holds one goes: no placeholder would be its name.
    pub(super) fn clean(&self, headers: &mut HeaderMap) {
        let is_told = |name: &&HeaderName| self.names.is_in(name.as_str().as_bytes());
        let told: Vec<HeaderName> = headers.keys().filter(is_told).cloned().collect();
        for name in told {
            headers.remove(name);
        }
        for value in headers.values_mut() {
            let clean = self.text.replaced(value.as_bytes());
            if clean != value.as_bytes() {
                *value = HeaderValue::from_bytes(&clean).unwrap_or(HeaderValue::from_static("removed"));
            }
        }
    }
}

#[cfg(test)]
#[path = "unsaid_tests.rs"]
mod tests;

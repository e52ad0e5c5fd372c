//! The fields of a form or of a question mark, read once.

use std::convert::Infallible;

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;

use crate::problem::Problem;

/// More than any form of ours needs.
pub(crate) const MOST_BYTES: usize = 1 << 20;

/// In the order they came; a field that is empty counts as not given.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fields(Vec<(String, String)>);

impl Fields {
    pub(crate) fn parse(bytes: &[u8]) -> Self {
        Self(form_urlencoded::parse(bytes).into_owned().collect())
    }

    /// Exactly what was sent: of paths, names and ids every blank counts.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
        found.filter(|value| !value.is_empty())
    }

    /// Whether the form had it at all, be it empty.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(known, _)| known == name)
    }

    /// What a person wrote, without the blanks around it.
    pub(crate) fn typed(&self, name: &str) -> Option<&str> {
        self.get(name).map(str::trim).filter(|value| !value.is_empty())
    }

    /// Behind a question mark again, with some left out and some put in.
    pub(crate) fn link(&self, path: &str, without: &[&str], with: &[(&str, &str)]) -> String {
        let mut text = form_urlencoded::Serializer::new(String::new());
        let kept = self.0.iter().filter(|(name, value)| {
            !value.is_empty()
                && !without.contains(&name.as_str())
                && !with.iter().any(|(other, _)| other == name)
        });
        for (name, value) in kept {
            text.append_pair(name, value);
        }
        for (name, value) in with {
            text.append_pair(name, value);
        }
        let text = text.finish();
        if text.is_empty() { path.to_owned() } else { format!("{path}?{text}") }
    }
}

/// Those behind the question mark.
#[derive(Clone, Debug)]
pub(crate) struct Asked(pub(crate) Fields);

impl<S: Sync> FromRequestParts<S> for Asked {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        Ok(Self(Fields::parse(parts.uri.query().unwrap_or_default().as_bytes())))
    }
}

impl<S: Send + Sync> FromRequest<S> for Fields {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let bytes = Bytes::from_request(request, state).await.map_err(|_| Problem::TooLarge)?;
        Ok(Self::parse(&bytes))
    }
}

#[cfg(test)]
#[path = "fields_tests.rs"]
mod tests;

//! What a path names. Bytes that are not text name nothing that there is, and each door says so in its own words.

use std::convert::Infallible;

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

/// The names in the path of a request: one text, or several.
#[derive(Debug)]
pub(crate) struct Ids<T>(pub(crate) T);

/// Stands for a name that could not be read; nothing here is called so.
pub(crate) trait Nameless {
    fn nameless() -> Self;
}

impl Nameless for String {
    fn nameless() -> Self {
        char::REPLACEMENT_CHARACTER.to_string()
    }
}

impl Nameless for (String, String) {
    fn nameless() -> Self {
        (String::nameless(), String::nameless())
    }
}

impl Nameless for Vec<(String, String)> {
    fn nameless() -> Self {
        Self::new()
    }
}

impl<T: DeserializeOwned + Nameless + Send, S: Send + Sync> FromRequestParts<S> for Ids<T> {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        let ids = Path::from_request_parts(parts, state).await;
        Ok(Self(ids.map_or_else(|_| T::nameless(), |Path(ids)| ids)))
    }
}

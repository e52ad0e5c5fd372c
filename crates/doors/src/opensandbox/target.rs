//! The sandbox that a request is for.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use super::details::Details;
use super::error::{Answered, Refusal};

pub(super) type Target = crate::lent::Target<Details>;

impl<S: Sync> FromRequestParts<S> for Target {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Answered<Self> {
        let found = parts.extensions.get::<Self>().cloned();
        found.ok_or_else(|| Refusal::internal(&"a way into a sandbox was taken without a sandbox"))
    }
}

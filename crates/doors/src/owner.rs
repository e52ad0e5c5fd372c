//! Whose request it is. The same for every door, so that what one door makes the others find.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap};
use sandgate_core::{Owner, Principal};

use crate::access::{open_owner, presented};

/// The owner a request acts for.
#[derive(Clone, Debug)]
pub(crate) struct Caller(pub(crate) Owner);

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        Ok(Self(principal_of(&parts.extensions, &parts.headers).owner))
    }
}

/// The same with what its key may do.
#[derive(Clone, Debug)]
pub(crate) struct Who(pub(crate) Principal);

impl<S: Sync> FromRequestParts<S> for Who {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        Ok(Self(principal_of(&parts.extensions, &parts.headers)))
    }
}

/// Whoever was let in. A door that stands alone, as in its tests, is one without keys.
pub(crate) fn principal_of(extensions: &Extensions, headers: &HeaderMap) -> Principal {
    let found = extensions.get::<Principal>().cloned();
    found.unwrap_or_else(|| Principal::open(open_owner(presented(headers).as_deref())))
}

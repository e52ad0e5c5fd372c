//! What is refused, and the checks that many requests share.

use std::collections::BTreeMap;
use std::fmt;

use axum::Json;
use axum::extract::{FromRequest, Request};
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde::de::DeserializeOwned;
use serde_json::json;

/// In the body that Daytona's errors have.
#[derive(Clone, Debug)]
pub(crate) struct Refused {
    status: StatusCode,
    message: String,
    /// Not the client's fault: what it asks for is not there.
    expected: bool,
}

impl Refused {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), expected: false }
    }

    pub(crate) fn missing(message: impl Into<String>) -> Self {
        Self { status: StatusCode::NOT_FOUND, message: message.into(), expected: true }
    }

    /// What a client may well ask for, and does not get.
    pub(crate) fn no(message: impl Into<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, message: message.into(), expected: true }
    }

    pub(crate) fn too_late() -> Self {
        let message = "command execution timeout".to_owned();
        Self { status: StatusCode::REQUEST_TIMEOUT, message, expected: true }
    }

    pub(crate) fn failed(error: &impl fmt::Display) -> Self {
        Self { status: StatusCode::INTERNAL_SERVER_ERROR, message: error.to_string(), expected: true }
    }

    pub(crate) fn is_violation(&self) -> bool {
        !self.expected
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.status.as_u16(), self.message)
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let body = json!({"statusCode": self.status.as_u16(), "message": self.message});
        let mut response = (self.status, Json(body)).into_response();
        response.extensions_mut().insert(self);
        response
    }
}

/// A body of JSON that is declared as such and has known fields only.
pub(crate) struct Body<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = Refused;

    async fn from_request(request: Request, state: &S) -> Result<Self, Refused> {
        let Json(body) = Json::<T>::from_request(request, state)
            .await
            .map_err(|error| Refused::new(error.status(), error.body_text()))?;
        Ok(Self(body))
    }
}

/// The query, all of whose names must be among these; those that begin with `!` must be there.
pub(crate) fn query(uri: &Uri, names: &[&str]) -> Result<BTreeMap<String, String>, Refused> {
    let given: BTreeMap<String, String> =
        form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()).into_owned().collect();
    let known = |name: &&String| names.iter().any(|one| one.trim_start_matches('!') == name.as_str());
    if let Some(name) = given.keys().find(|name| !known(name)) {
        return Err(Refused::new(StatusCode::BAD_REQUEST, format!("there is no parameter '{name}'")));
    }
    let missing =
        names.iter().filter_map(|name| name.strip_prefix('!')).find(|name| !given.contains_key(*name));
    match missing {
        Some(name) => Err(Refused::new(StatusCode::BAD_REQUEST, format!("'{name}' is missing"))),
        None => Ok(given),
    }
}

//! One request to a provider.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, header};
use sandgate_core::Secret;
use serde::Serialize;

use std::time::Duration;

use super::{Address, HttpError};

#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) method: Method,
    pub(crate) uri: Uri,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// The longest silence; None: what the settings say.
    pub(crate) silence: Option<Duration>,
}

impl Call {
    pub(crate) fn new(
        method: Method,
        address: &Address,
        path: &str,
        query: &[(&str, &str)],
    ) -> Result<Self, HttpError> {
        let uri = address.uri(path, query)?;
        Ok(Self { method, uri, headers: HeaderMap::new(), body: Bytes::new(), silence: None })
    }

    pub(crate) fn json(mut self, body: &impl Serialize) -> Result<Self, HttpError> {
        self.body = serde_json::to_vec(body).map_err(|error| HttpError::Ours(error.to_string()))?.into();
        Ok(self.kind("application/json"))
    }

    pub(crate) fn body(mut self, kind: &'static str, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self.kind(kind)
    }

    pub(crate) fn kind(self, kind: &'static str) -> Self {
        self.plain(header::CONTENT_TYPE, HeaderValue::from_static(kind))
    }

    pub(crate) fn plain(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// A header that no log and no error may show.
    pub(crate) fn secret(mut self, name: HeaderName, value: &Secret) -> Result<Self, HttpError> {
        self.headers.insert(name, sensitive(value.expose())?);
        Ok(self)
    }

    pub(crate) fn with(mut self, headers: &HeaderMap) -> Self {
        self.headers.extend(headers.clone());
        self
    }

    pub(crate) fn silence(mut self, longest: Duration) -> Self {
        self.silence = Some(longest);
        self
    }
}

pub(crate) fn sensitive(text: &str) -> Result<HeaderValue, HttpError> {
    let value = HeaderValue::from_str(text);
    let mut value =
        value.map_err(|_| HttpError::Ours("a key holds characters that cannot be sent".to_owned()))?;
    value.set_sensitive(true);
    Ok(value)
}

//! Where an upstream is and how it is spoken to, as the operator says it.

use std::fmt;
use std::time::Duration;

use ::http::HeaderMap;

#[derive(Clone)]
pub struct ConnectionConfig {
    /// As in `OPENAI_BASE_URL`, with its `/v1`; a query is added to every request.
    pub base: String,
    /// Sent as bearer token in place of what the client sent. Without it the client's is passed on.
    pub key: Option<String>,
    /// Set on every request, over what the client sent.
    pub headers: HeaderMap,
    /// Name lookup, TCP and TLS together.
    pub connect_timeout: Duration,
    /// The longest silence, before the answer's head and between its bytes.
    pub read_timeout: Duration,
}

impl ConnectionConfig {
    #[must_use]
    pub fn new(base: impl Into<String>) -> Self {
        Self {
            base: base.into(),
            key: None,
            headers: HeaderMap::new(),
            connect_timeout: Duration::from_secs(10),
            read_timeout: Duration::from_secs(600),
        }
    }
}

impl fmt::Debug for ConnectionConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectionConfig")
            // What stands before an '@' or after a '?' may be a secret too.
            .field("base", &self.base.split('?').next().filter(|base| !base.contains('@')).unwrap_or("…"))
            .field("key", &self.key.as_ref().map(|_| "…"))
            .field("headers", &self.headers.keys().collect::<Vec<_>>())
            .field("connect_timeout", &self.connect_timeout)
            .field("read_timeout", &self.read_timeout)
            .finish()
    }
}

/// Why an upstream's settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum InvalidConnection {
    #[error("the upstream's address must look like https://host/v1, without a user or password in it")]
    Address,
    #[error("the upstream's key holds characters that cannot be sent in a header")]
    Key,
    #[error("https cannot be set up: {0}")]
    Tls(String),
}

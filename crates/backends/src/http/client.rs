//! Connections to a provider, and requests over them.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Request, header};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::{self, Client};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use sandgate_outbound::{Connector, connector_with};

use super::{Answer, Call, HttpError, retry};
use crate::{Deadlines, Reach};

pub(super) type Body = UnsyncBoxBody<Bytes, Box<dyn Error + Send + Sync>>;

/// Shorter than what common servers grant, so that a connection is rarely closed under a request.
const IDLE_CONNECTION: Duration = Duration::from_secs(30);
const IDLE_CONNECTIONS: usize = 64;

/// Cheap to clone; clones share their connections.
#[derive(Clone)]
pub(crate) struct HttpClient(Arc<Inner>);

struct Inner {
    client: Client<Connector, Body>,
    connector: Connector,
    read_timeout: Duration,
}

impl HttpClient {
    pub(crate) fn new(deadlines: &Deadlines, reach: &Reach) -> Result<Self, HttpError> {
        // A server without TLS may still have its sandboxes behind it.
        let connector = connector_with(/* https */ true, deadlines.connect, &reach.trust, &reach.names)
            .map_err(|error| HttpError::Ours(format!("https cannot be set up: {error}")))?;
        let client = Client::builder(TokioExecutor::new())
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_CONNECTION)
            .pool_max_idle_per_host(IDLE_CONNECTIONS)
            .build(connector.clone());
        Ok(Self(Arc::new(Inner { client, connector, read_timeout: deadlines.answer })))
    }

    pub(super) fn connector(&self) -> Connector {
        self.0.connector.clone()
    }

    pub(super) fn read_timeout(&self) -> Duration {
        self.0.read_timeout
    }

    /// Asks, and again where that is safe. Any status is an answer.
    pub(crate) async fn ask(&self, call: Call) -> Result<Answer, HttpError> {
        let mut tried = 0;
        loop {
            tried += 1;
            let body = Full::new(call.body.clone()).map_err(|never| match never {}).boxed_unsync();
            let wait = match self.send(&call, body).await {
                Ok(answer) => {
                    match retry::wait_after_status(&call.method, answer.status, &answer.headers, tried) {
                        Some(wait) => wait,
                        None => return Ok(answer),
                    }
                }
                Err(error) => match retry::wait_after_error(&call.method, &error, tried) {
                    Some(wait) => wait,
                    None => return Err(error),
                },
            };
            tokio::time::sleep(wait).await;
        }
    }

    /// Asks for a success: anything else is [`HttpError::Refused`] with the provider's own words.
    pub(crate) async fn demand(&self, call: Call) -> Result<Answer, HttpError> {
        self.ask(call).await?.success().await
    }

    /// One try.
    pub(super) async fn send(&self, call: &Call, body: Body) -> Result<Answer, HttpError> {
        let silence = call.silence.unwrap_or(self.0.read_timeout);
        let late = |_| HttpError::Silent { seconds: silence.as_secs() };
        tokio::time::timeout(silence, self.send_patiently(call, body)).await.map_err(late)?
    }

    /// The same for who watches the time himself.
    pub(super) async fn send_patiently(&self, call: &Call, body: Body) -> Result<Answer, HttpError> {
        let mut request = Request::new(body);
        *request.method_mut() = call.method.clone();
        *request.uri_mut() = call.uri.clone();
        *request.headers_mut() = call.headers.clone();
        request.headers_mut().insert(
            header::USER_AGENT,
            HeaderValue::from_static(concat!("sandgate/", env!("CARGO_PKG_VERSION"))),
        );
        let silence = call.silence.unwrap_or(self.0.read_timeout);
        let answer = self.0.client.request(request).await.map_err(|error| failed(&error))?;
        Ok(Answer::new(answer, silence, &call.headers))
    }
}

impl fmt::Debug for HttpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HttpClient")
    }
}

fn failed(error: &legacy::Error) -> HttpError {
    let cause = innermost(error);
    let sent = error.source().and_then(|source| source.downcast_ref::<hyper::Error>());
    if sent.is_some_and(hyper::Error::is_user) {
        return HttpError::Ours(format!("what was to be sent ended early ({cause})"));
    }
    if error.is_connect() { HttpError::Unreachable(cause) } else { HttpError::Broken(cause) }
}

/// The cause at the end of a chain of errors: the one that says something.
pub(super) fn innermost(error: &(dyn Error + 'static)) -> String {
    let mut last = error;
    while let Some(source) = last.source() {
        last = source;
    }
    last.to_string()
}

//! The way to one upstream: pooled HTTP/1.1 connections, its base address, the operator's key. Requests
//! are either our own or passed on as they are.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use ::http::uri::{Authority, PathAndQuery, Scheme};
use ::http::{HeaderMap, HeaderValue, Method, Request, Response, Uri, header};
use bytes::Bytes;
use http_body::Body;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::{self, Client};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use sandgate_outbound::{Connector, connector};
use serde_json::Value;

use super::answer::AnswerBody;
use super::connection_config::{ConnectionConfig, InvalidConnection};
use super::credentials::{names_account, remove_account, sensitive};
use super::headers::{remove_hop_by_hop, useful};
use super::{Credentials, UpstreamError};

/// A request's body on its way up: whole, or streamed from the client.
pub type RequestBody = UnsyncBoxBody<Bytes, Box<dyn Error + Send + Sync>>;

/// An error body longer than this is cut.
const ERROR_BODY_LIMIT: usize = 1 << 20;
/// The list of models, and everything else that is read whole.
pub(super) const WHOLE_BODY_LIMIT: usize = 64 << 20;
/// Shorter than what common servers grant, so that a connection is rarely closed under a request.
const IDLE_CONNECTION: Duration = Duration::from_secs(30);
const IDLE_CONNECTIONS: usize = 256;

#[must_use]
pub fn body_of(bytes: impl Into<Bytes>) -> RequestBody {
    Full::new(bytes.into()).map_err(|never| match never {}).boxed_unsync()
}

/// Cheap to clone; clones share their connections.
#[derive(Clone)]
pub struct Connection(Arc<Inner>);

struct Inner {
    client: Client<Connector, RequestBody>,
    scheme: Scheme,
    authority: Authority,
    path: String,
    /// Host, port and path.
    place: String,
    query: Option<String>,
    /// Secrets of the operator's that an answer might repeat.
    secrets: Vec<String>,
    authorization: Option<HeaderValue>,
    /// Requests go out on the operator's account, by whichever header.
    is_operators: bool,
    headers: HeaderMap,
    read_timeout: Duration,
}

impl Connection {
    pub fn new(config: ConnectionConfig) -> Result<Self, InvalidConnection> {
        let base: Uri = config.base.trim().parse().map_err(|_| InvalidConnection::Address)?;
        let parts = base.into_parts();
        let (Some(scheme), Some(authority)) = (parts.scheme, parts.authority) else {
            return Err(InvalidConnection::Address);
        };
        if (scheme != Scheme::HTTP && scheme != Scheme::HTTPS) || authority.as_str().contains('@') {
            return Err(InvalidConnection::Address);
        }
        let path_and_query = parts.path_and_query.unwrap_or_else(|| PathAndQuery::from_static("/"));
        let key = config.key.map(|key| key.trim().to_owned()).filter(|key| !key.is_empty());
        let authorization = match &key {
            Some(key) => {
                let value = HeaderValue::try_from(format!("Bearer {key}"));
                Some(sensitive(value.map_err(|_| InvalidConnection::Key)?))
            }
            None => None,
        };
        let connector = connector(scheme == Scheme::HTTPS, config.connect_timeout)
            .map_err(|error| InvalidConnection::Tls(error.to_string()))?;
        let client = Client::builder(TokioExecutor::new())
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_CONNECTION)
            .pool_max_idle_per_host(IDLE_CONNECTIONS)
            .build(connector);
        let path = path_and_query.path().trim_end_matches('/').to_owned();
        let by_headers = names_account(&config.headers);
        let secrets = key.into_iter().chain(by_headers.map(str::to_owned)).collect::<Vec<_>>();
        Ok(Self(Arc::new(Inner {
            client,
            scheme,
            place: format!("{authority}{path}"),
            authority,
            path,
            query: path_and_query.query().map(ToOwned::to_owned),
            is_operators: !secrets.is_empty(),
            secrets,
            authorization,
            headers: config.headers,
            read_timeout: config.read_timeout,
        })))
    }

    /// Where it is: host, port and path.
    pub(super) fn place(&self) -> &str {
        &self.0.place
    }

    /// Passes a request on as it is; only what belongs to the connection and the account is exchanged.
    pub async fn forward(
        &self,
        mut request: Request<RequestBody>,
    ) -> Result<Response<AnswerBody>, UpstreamError> {
        let path = request.uri().path();
        if leaves_its_place(path) {
            return Err(UpstreamError::Unsupported("the path has '.' or '..' in it".to_owned()));
        }
        let path =
            path.strip_prefix("/v1").filter(|rest| rest.is_empty() || rest.starts_with('/')).unwrap_or(path);
        *request.uri_mut() = self.uri(path, request.uri().query())?;
        *request.version_mut() = ::http::Version::HTTP_11;
        let known_length = request.body().size_hint().exact().is_some();
        let headers = request.headers_mut();
        remove_hop_by_hop(headers);
        headers.remove(header::HOST);
        // Ours has already been answered by our own server.
        headers.remove(header::EXPECT);
        // Meant for us: a session in our own pages is nothing to an API.
        headers.remove(header::COOKIE);
        if known_length {
            headers.remove(header::CONTENT_LENGTH);
        }
        if self.0.is_operators {
            remove_account(headers);
        }
        if let Some(authorization) = &self.0.authorization {
            headers.insert(header::AUTHORIZATION, authorization.clone());
        }
        self.put_configured_headers(headers);
        let mut answer = self.send(request).await?;
        remove_hop_by_hop(answer.headers_mut());
        Ok(answer)
    }

    /// A request of our own. An answer that is not a success becomes [`UpstreamError::Status`].
    pub(super) async fn call(
        &self,
        method: Method,
        path: &str,
        credentials: &Credentials,
        request_id: &str,
        body: Bytes,
    ) -> Result<Response<AnswerBody>, UpstreamError> {
        let mut request = Request::new(body_of(body));
        *request.uri_mut() = self.uri(path, credentials.query())?;
        let headers = request.headers_mut();
        headers.insert(
            header::USER_AGENT,
            HeaderValue::from_static(concat!("sandgate/", env!("CARGO_PKG_VERSION"))),
        );
        if method == Method::POST {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        headers.insert(header::ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        if let Some(id) = HeaderValue::try_from(request_id).ok().filter(|id| !id.is_empty()) {
            headers.insert("x-client-request-id", id.clone());
            headers.insert("x-request-id", id);
        }
        credentials.put_on(headers, self.0.authorization.as_ref());
        if self.0.is_operators && self.0.authorization.is_none() {
            remove_account(headers);
        }
        self.put_configured_headers(headers);
        *request.method_mut() = method;
        let answer = self.send(request).await?;
        if answer.status().is_success() {
            return Ok(answer);
        }
        let (head, body) = answer.into_parts();
        let mut headers = useful(&head.headers);
        if let Some(kind) = head.headers.get(header::CONTENT_TYPE) {
            headers.insert(header::CONTENT_TYPE, kind.clone());
        }
        // An error whose text is lost is still that error.
        let body = body.collect_up_to(ERROR_BODY_LIMIT, true).await.unwrap_or_default();
        Err(UpstreamError::Status {
            status: head.status,
            headers: Box::new(headers),
            body: self.without_key(body),
        })
    }

    pub(super) async fn models(&self, credentials: &Credentials) -> Result<Value, UpstreamError> {
        let answer = self.call(Method::GET, "/models", credentials, "", Bytes::new()).await?;
        let body = answer.into_body().collect_up_to(WHOLE_BODY_LIMIT, false).await?;
        serde_json::from_slice(&body)
            .map_err(|error| UpstreamError::Broken(format!("the list of models is not JSON ({error})")))
    }

    async fn send(&self, request: Request<RequestBody>) -> Result<Response<AnswerBody>, UpstreamError> {
        let limit = self.0.read_timeout;
        match tokio::time::timeout(limit, self.0.client.request(request)).await {
            Ok(Ok(mut answer)) => {
                // Whose account it is concerns only who has it.
                if self.0.is_operators {
                    remove_account(answer.headers_mut());
                }
                Ok(answer.map(|incoming| AnswerBody::new(incoming, limit)))
            }
            Ok(Err(error)) => Err(self.failed(&error)),
            Err(_) => Err(UpstreamError::TimedOut { seconds: limit.as_secs() }),
        }
    }

    fn failed(&self, error: &legacy::Error) -> UpstreamError {
        let cause = innermost(error);
        tracing::warn!(upstream = %self.0.authority, connecting = error.is_connect(), %cause, "no answer");
        let sent = error.source().and_then(|source| source.downcast_ref::<hyper::Error>());
        if sent.is_some_and(hyper::Error::is_user) {
            return UpstreamError::Broken(format!("the request's body ended early ({cause})"));
        }
        let what = if error.is_connect() { "no connection" } else { "the connection ended before an answer" };
        UpstreamError::Unreachable(format!("{what} ({cause})"))
    }

    fn uri(&self, path: &str, query: Option<&str>) -> Result<Uri, UpstreamError> {
        let inner = &*self.0;
        let mut text = format!("{}{path}", inner.path);
        for (separator, query) in ['?', '&'].into_iter().zip(inner.query.as_deref().into_iter().chain(query))
        {
            text.push(separator);
            text.push_str(query);
        }
        if text.is_empty() {
            text.push('/');
        }
        let mut parts = ::http::uri::Parts::default();
        parts.scheme = Some(inner.scheme.clone());
        parts.authority = Some(inner.authority.clone());
        parts.path_and_query = text.parse().ok();
        Uri::from_parts(parts)
            .map_err(|_| UpstreamError::Unsupported("the path cannot be passed on".to_owned()))
    }

    fn put_configured_headers(&self, headers: &mut HeaderMap) {
        for (name, value) in &self.0.headers {
            headers.insert(name, value.clone());
        }
    }

    /// Some servers repeat a key they refuse. The operator's is not the client's to read.
    fn without_key(&self, body: Bytes) -> Bytes {
        let Self(inner) = self;
        let text = String::from_utf8_lossy(&body);
        if !inner.secrets.iter().any(|secret| text.contains(secret.as_str())) {
            return body;
        }
        let hidden = inner.secrets.iter().fold(text.into_owned(), |text, secret| text.replace(secret, "…"));
        Bytes::from(hidden)
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("scheme", &self.0.scheme)
            .field("authority", &self.0.authority)
            .field("path", &self.0.path)
            .finish_non_exhaustive()
    }
}

/// Dots would lead out of the upstream's base, to where the operator's key was not meant to go.
fn leaves_its_place(path: &str) -> bool {
    if !path.contains(['.', '%']) {
        return false;
    }
    let plain = path.replace("%2e", ".").replace("%2E", ".").replace("%5c", "/").replace("%5C", "/");
    plain.replace("%2f", "/").replace("%2F", "/").split(['/', '\\']).any(|part| part == "." || part == "..")
}

/// The cause at the end of a chain of errors: the one that says something.
pub(super) fn innermost(error: &(dyn Error + 'static)) -> String {
    let mut last = error;
    while let Some(source) = last.source() {
        last = source;
    }
    last.to_string()
}

#[cfg(test)]
#[path = "http_tests.rs"]
mod tests;

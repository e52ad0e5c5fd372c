//! The operator's own program, asked over HTTP: signed as Standard Webhooks say, answered in time with
//! approve, deny or ask. Whatever else comes of it means deny.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use ::http::header::{CONTENT_TYPE, USER_AGENT};
use ::http::uri::Scheme;
use ::http::{HeaderValue, Method, Request, Uri};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use hmac::{Hmac, Mac};
use http_body_util::{BodyExt, Full, Limited};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use sandgate_core::{Secret, now_seconds};
use sandgate_outbound::{Connector, connector};
use serde::Deserialize;
use sha2::Sha256;

use super::clipped;
use super::facts::Facts;

/// Far more than a decision and a reason need.
const LONGEST_ANSWER: usize = 64 << 10;
/// How a secret of Standard Webhooks begins; the rest is base64.
const ENCODED: &str = "whsec_";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WebhookWhen {
    /// Of all code that no rule decides.
    #[default]
    Always,
    /// Only where a rule or the default says ask.
    Asked,
}

pub struct Webhook {
    client: Client<Connector, Full<Bytes>>,
    url: Uri,
    secret: Vec<u8>,
    timeout: Duration,
    pub(super) when: WebhookWhen,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidWebhook {
    #[error("an address is wanted, such as https://example.org/approve, without a user or a fragment")]
    Url,
    #[error("what follows 'whsec_' must be base64 of 1 byte at least")]
    Secret,
    #[error("TLS cannot be set up: {0}")]
    Tls(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Approve(Option<String>),
    Deny(Option<String>),
    Ask(Option<String>),
}

#[derive(Deserialize)]
struct Said {
    decision: Decision,
    #[serde(default)]
    reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Decision {
    Approve,
    Deny,
    Ask,
}

/// Why there is no answer, as the model may know it; the log says more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoAnswer {
    #[error("the approval hook could not be reached")]
    Unreachable,
    #[error("the approval hook did not answer in time")]
    TooSlow,
    #[error("the approval hook failed")]
    Status,
    #[error("the approval hook gave no usable answer")]
    Unusable,
}

impl Webhook {
    pub fn new(
        url: &str,
        secret: &Secret,
        timeout: Duration,
        when: WebhookWhen,
    ) -> Result<Self, InvalidWebhook> {
        let url: Uri = url.trim().parse().map_err(|_| InvalidWebhook::Url)?;
        let is_http = url.scheme() == Some(&Scheme::HTTP) || url.scheme() == Some(&Scheme::HTTPS);
        if !is_http || url.authority().is_none_or(|authority| authority.as_str().contains('@')) {
            return Err(InvalidWebhook::Url);
        }
        let secret = match secret.expose().strip_prefix(ENCODED) {
            Some(encoded) => BASE64_STANDARD.decode(encoded).map_err(|_| InvalidWebhook::Secret)?,
            None => secret.expose().as_bytes().to_vec(),
        };
        if secret.is_empty() {
            return Err(InvalidWebhook::Secret);
        }
        let connector = connector(url.scheme() == Some(&Scheme::HTTPS), timeout)
            .map_err(|error| InvalidWebhook::Tls(error.to_string()))?;
        // No connection is kept: one that the other side closes at the wrong moment would be a denial.
        let client = Client::builder(TokioExecutor::new()).pool_max_idle_per_host(0).build(connector);
        Ok(Self { client, url, secret, timeout, when })
    }

    /// The place without what may be a secret in it.
    #[must_use]
    pub fn place(&self) -> String {
        let authority = self.url.authority().map_or("", |authority| authority.as_str());
        format!("{}://{authority}{}", self.url.scheme_str().unwrap_or_default(), self.url.path())
    }

    pub(super) async fn ask(&self, facts: &Facts) -> Result<Answer, NoAnswer> {
        let asked = tokio::time::timeout(self.timeout, self.exchange(facts));
        let answer = asked.await.unwrap_or_else(|_| {
            Err((NoAnswer::TooSlow, format!("nothing within {} ms", self.timeout.as_millis())))
        });
        answer.map_err(|(problem, cause)| {
            tracing::error!(approval = facts.id, hook = self.place(), cause, "{problem}: the code is denied");
            problem
        })
    }

    async fn exchange(&self, facts: &Facts) -> Result<Answer, (NoAnswer, String)> {
        let unusable = |cause: &dyn fmt::Display| (NoAnswer::Unusable, cause.to_string());
        let body = serde_json::to_vec(facts).map_err(|error| unusable(&error))?;
        let request = self.signed(&facts.id, now_seconds(), body).map_err(|error| unusable(&error))?;
        // Redirects are not followed: the code goes to where the operator said and nowhere else.
        let answer = self.client.request(request).await;
        let answer = answer.map_err(|error| (NoAnswer::Unreachable, innermost(&error)))?;
        if !answer.status().is_success() {
            return Err((NoAnswer::Status, format!("status {}", answer.status())));
        }
        let body = Limited::new(answer.into_body(), LONGEST_ANSWER).collect().await;
        let body = body.map_err(|error| (NoAnswer::Unusable, innermost(&*error)))?.to_bytes();
        read(&body).map_err(|error| unusable(&error))
    }

    fn signed(&self, id: &str, time: u64, body: Vec<u8>) -> Result<Request<Full<Bytes>>, ::http::Error> {
        let signature = format!("v1,{}", signature(&self.secret, id, time, &body));
        Request::builder()
            .method(Method::POST)
            .uri(self.url.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(USER_AGENT, HeaderValue::from_static(concat!("sandgate/", env!("CARGO_PKG_VERSION"))))
            .header("webhook-id", id)
            .header("webhook-timestamp", time)
            .header("webhook-signature", signature)
            .body(Full::new(Bytes::from(body)))
    }
}

/// HMAC-SHA256 over `id.timestamp.body`, in base64.
fn signature(secret: &[u8], id: &str, time: u64, body: &[u8]) -> String {
    // Any length of key will do for an HMAC, so this never fails.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret) else { return String::new() };
    mac.update(format!("{id}.{time}.").as_bytes());
    mac.update(body);
    BASE64_STANDARD.encode(mac.finalize().into_bytes())
}

fn read(body: &[u8]) -> Result<Answer, serde_json::Error> {
    let Said { decision, reason } = serde_json::from_slice(body)?;
    let reason = reason.as_deref().and_then(clipped);
    Ok(match decision {
        Decision::Approve => Answer::Approve(reason),
        Decision::Deny => Answer::Deny(reason),
        Decision::Ask => Answer::Ask(reason),
    })
}

fn innermost(error: &(dyn Error + 'static)) -> String {
    let mut last = error;
    while let Some(source) = last.source() {
        last = source;
    }
    last.to_string()
}

impl fmt::Debug for Webhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Webhook")
            .field("place", &self.place())
            .field("when", &self.when)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "webhook_tests.rs"]
mod tests;

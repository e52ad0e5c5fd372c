//! E2B's control plane: sandboxes made, found, kept and ended. The second version first; where a server does not
//! know it, the first.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use http::{HeaderName, Method, StatusCode};
use serde::Serialize;
use serde_json::json;

use super::addresses::Addresses;
use super::wire::{Listed, NewSandbox, Sandbox, Timeout, seconds};
use crate::found::{MOST_PAGES, carrying, endless, understood};
use crate::http::{Answer, Call, HttpClient, HttpError, nested_query, of_sandbox};
use crate::{E2bSettings, Found, PlaceId, PlaceState, ProviderError, ProviderResult, Wish};

const API_KEY: HeaderName = HeaderName::from_static("x-api-key");
const NEXT_PAGE: &str = "x-next-token";
/// Of an answer of the control plane.
const LARGEST: usize = 8 << 20;

#[derive(Debug)]
pub(super) struct Control {
    pub(super) client: HttpClient,
    pub(super) addresses: Addresses,
    pub(super) settings: E2bSettings,
    version: Version,
}

/// Which version the server was found to speak.
#[derive(Debug, Default)]
struct Version(AtomicU8);

impl Version {
    const FIRST: u8 = 1;
    const SECOND: u8 = 2;

    fn is_first(&self) -> bool {
        self.0.load(Ordering::Relaxed) == Self::FIRST
    }
    fn is_second(&self) -> bool {
        self.0.load(Ordering::Relaxed) == Self::SECOND
    }
    fn found(&self, version: u8) {
        self.0.store(version, Ordering::Relaxed);
    }
}

impl Control {
    pub(super) fn new(settings: E2bSettings) -> ProviderResult<Self> {
        let addresses = Addresses::new(&settings)?;
        let client = HttpClient::new(&settings.deadlines, &settings.reach)?;
        Ok(Self { client, addresses, settings, version: Version::default() })
    }

    pub(super) async fn create(&self, wish: &Wish) -> ProviderResult<Sandbox> {
        let mut body = NewSandbox::of(wish, &self.settings.template);
        let silence = self.settings.deadlines.create;
        let second = self.call(Method::POST, "/v2/sandboxes", &[])?.silence(silence);
        if let Some(answer) = self.try_second(second.json(&body)?).await? {
            return Ok(answer.success().await?.json(LARGEST).await?);
        }
        body.secure = Some(true);
        let first = self.call(Method::POST, "/sandboxes", &[])?.silence(silence);
        let answer = self.client.demand(first.json(&body)?).await?;
        self.version.found(Version::FIRST);
        Ok(answer.json(LARGEST).await?)
    }

    /// Wakes it if it is paused; gives it at least so much time.
    pub(super) async fn connect(&self, id: &PlaceId, life: Duration) -> ProviderResult<Sandbox> {
        let body = Timeout { timeout: seconds(life) };
        let second = self.call(Method::POST, &format!("/v2/sandboxes/{id}/connect"), &[])?.json(&body)?;
        if let Some(answer) = self.try_second(second).await? {
            return Ok(answer.success().await.map_err(of_sandbox)?.json(LARGEST).await?);
        }
        let first = self.call(Method::POST, &format!("/sandboxes/{id}/connect"), &[])?.json(&body)?;
        Ok(self.client.of_sandbox(first).await?.json(LARGEST).await?)
    }

    pub(super) async fn state(&self, id: &PlaceId) -> ProviderResult<PlaceState> {
        let call = self.call(Method::GET, &format!("/sandboxes/{id}"), &[])?;
        let listed: Listed = self.client.of_sandbox(call).await?.json(LARGEST).await?;
        Ok(listed.state())
    }

    pub(super) async fn delete(&self, id: &PlaceId) -> ProviderResult<()> {
        let call = self.call(Method::DELETE, &format!("/sandboxes/{id}"), &[])?;
        self.client.delete(call).await
    }

    pub(super) async fn extend(&self, id: &PlaceId, life: Duration) -> ProviderResult<()> {
        self.order(id, "timeout", &Timeout { timeout: seconds(life) }).await
    }

    pub(super) async fn pause(&self, id: &PlaceId) -> ProviderResult<()> {
        match self.order(id, "pause", &json!({})).await {
            // It is paused already.
            Err(ProviderError::Refused { status: 409, .. }) => Ok(()),
            other => other,
        }
    }

    pub(super) async fn find(&self, metadata: &BTreeMap<String, String>) -> ProviderResult<Vec<Found>> {
        let asked = nested_query(metadata);
        let mut all = Vec::new();
        let mut token: Option<String> = None;
        for _ in 0..MOST_PAGES {
            let mut query = vec![("metadata", asked.as_str()), ("state", "running,paused"), ("limit", "100")];
            query.extend(token.as_deref().map(|token| ("nextToken", token)));
            let second = self.call(Method::GET, "/v2/sandboxes", &query)?;
            let answer = match self.try_second(second).await? {
                Some(answer) => answer.success().await?,
                None => {
                    let first = self.call(Method::GET, "/sandboxes", &[("metadata", &asked)])?;
                    self.client.demand(first).await?
                }
            };
            token =
                answer.headers.get(NEXT_PAGE).and_then(|token| token.to_str().ok()).map(ToOwned::to_owned);
            for listed in answer.json::<Vec<Listed>>(LARGEST).await? {
                all.extend(understood(listed.into_found().map(Some)));
            }
            if token.as_deref().is_none_or(str::is_empty) {
                return Ok(carrying(all, metadata));
            }
        }
        Err(endless())
    }

    /// None: the server does not know the second version. A 404 is only then a sandbox that is not there when
    /// the server is known to speak it.
    async fn try_second(&self, call: Call) -> ProviderResult<Option<Answer>> {
        if self.version.is_first() {
            return Ok(None);
        }
        let answer = self.client.ask(call).await?;
        let is_unknown = answer.status == StatusCode::METHOD_NOT_ALLOWED
            || (answer.status == StatusCode::NOT_FOUND && !self.version.is_second());
        if is_unknown {
            answer.done().await;
            return Ok(None);
        }
        if answer.status.is_success() {
            self.version.found(Version::SECOND);
        }
        Ok(Some(answer))
    }

    async fn order(&self, id: &PlaceId, what: &str, body: &impl Serialize) -> ProviderResult<()> {
        let call = self.call(Method::POST, &format!("/sandboxes/{id}/{what}"), &[])?.json(body)?;
        self.client.order(call).await
    }

    fn call(&self, method: Method, path: &str, query: &[(&str, &str)]) -> Result<Call, HttpError> {
        Call::new(method, &self.addresses.api, path, query)?.secret(API_KEY, &self.settings.api_key)
    }
}

//! OpenSandbox's server: sandboxes made, found, kept and ended.

use std::collections::BTreeMap;
use std::time::Duration;

use http::{HeaderName, Method};
use serde::Serialize;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::wire::{NewSandbox, Page, Renewal, Sandbox};
use crate::found::{MOST_PAGES, carrying, endless, understood};
use crate::http::{Address, Call, HttpClient, HttpError, nested_query};
use crate::{Found, OpenSandboxSettings, PlaceId, PlaceState, ProviderError, ProviderResult, Wish};

pub(super) const API_KEY: HeaderName = HeaderName::from_static("open-sandbox-api-key");
/// Of an answer.
pub(super) const LARGEST: usize = 8 << 20;
const PAGE: &str = "200";

#[derive(Debug)]
pub(super) struct Lifecycle {
    pub(super) client: HttpClient,
    pub(super) api: Address,
    pub(super) settings: OpenSandboxSettings,
}

impl Lifecycle {
    pub(super) fn new(settings: OpenSandboxSettings) -> ProviderResult<Self> {
        let api = Address::parse(&settings.url)
            .map_err(|error| ProviderError::Unreachable(format!("url: {error}")))?;
        let client = HttpClient::new(&settings.deadlines, &settings.reach)?;
        Ok(Self { client, api, settings })
    }

    pub(super) async fn create(&self, wish: &Wish) -> ProviderResult<(PlaceId, PlaceState)> {
        let call = self.call(Method::POST, "", &[])?.silence(self.settings.deadlines.create);
        let call = call.json(&NewSandbox::of(wish, &self.settings))?;
        let made: Sandbox = self.client.demand(call).await?.json(LARGEST).await?;
        let state = made.state().ok_or_else(|| ProviderError::Failed(made.reason()))?;
        Ok((made.id()?, state))
    }

    pub(super) async fn state(&self, id: &PlaceId) -> ProviderResult<PlaceState> {
        self.get(id).await?.state().ok_or(ProviderError::Lost)
    }

    /// Waits until it is so; the whole of it is bounded by who calls.
    pub(super) async fn wait_for(&self, id: &PlaceId, wanted: PlaceState) -> ProviderResult<()> {
        const PAUSE: Duration = Duration::from_millis(200);
        loop {
            let sandbox = self.get(id).await?;
            match sandbox.state() {
                Some(state) if state == wanted => return Ok(()),
                Some(PlaceState::Broken) => return Err(ProviderError::Failed(sandbox.reason())),
                None => return Err(ProviderError::Lost),
                Some(_) => tokio::time::sleep(PAUSE).await,
            }
        }
    }

    async fn get(&self, id: &PlaceId) -> ProviderResult<Sandbox> {
        let call = self.call(Method::GET, &format!("/{id}"), &[])?;
        Ok(self.client.of_sandbox(call).await?.json(LARGEST).await?)
    }

    pub(super) async fn delete(&self, id: &PlaceId) -> ProviderResult<()> {
        let call = self.call(Method::DELETE, &format!("/{id}"), &[])?;
        self.client.delete(call).await
    }

    /// What its time is to be moved to; the protocol wants it as a date.
    pub(super) async fn extend(&self, id: &PlaceId, life: Duration) -> ProviderResult<()> {
        let end = OffsetDateTime::now_utc() + life;
        let expires_at = end.format(&Rfc3339).map_err(|error| HttpError::Ours(error.to_string()))?;
        self.order(id, "renew-expiration", Some(&Renewal { expires_at })).await
    }

    /// `pause` or `resume`; the change itself takes its time.
    pub(super) async fn change(&self, id: &PlaceId, what: &str) -> ProviderResult<()> {
        match self.order(id, what, None::<&()>).await {
            // It is so already.
            Err(ProviderError::Refused { status: 409, .. }) => Ok(()),
            other => other,
        }
    }

    pub(super) async fn find(&self, metadata: &BTreeMap<String, String>) -> ProviderResult<Vec<Found>> {
        let asked = nested_query(metadata);
        let mut all = Vec::new();
        for page in 1..=MOST_PAGES {
            let number = page.to_string();
            let query = [("metadata", asked.as_str()), ("page", &number), ("pageSize", PAGE)];
            let page: Page =
                self.client.demand(self.call(Method::GET, "", &query)?).await?.json(LARGEST).await?;
            for sandbox in page.items {
                all.extend(understood(sandbox.into_found()));
            }
            if !page.pagination.has_next_page {
                return Ok(carrying(all, metadata));
            }
        }
        Err(endless())
    }

    async fn order(&self, id: &PlaceId, what: &str, body: Option<&impl Serialize>) -> ProviderResult<()> {
        let mut call = self.call(Method::POST, &format!("/{id}/{what}"), &[])?;
        if let Some(body) = body {
            call = call.json(body)?;
        }
        self.client.order(call).await
    }

    /// `path`: below the sandboxes.
    pub(super) fn call(&self, method: Method, path: &str, query: &[(&str, &str)]) -> Result<Call, HttpError> {
        self.with_key(Call::new(method, &self.api, &format!("/sandboxes{path}"), query)?)
    }

    pub(super) fn with_key(&self, call: Call) -> Result<Call, HttpError> {
        match &self.settings.api_key {
            Some(key) => call.secret(API_KEY, key),
            None => Ok(call),
        }
    }
}

//! Daytona's control API: sandboxes made, found, kept and ended.

use std::collections::BTreeMap;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};

use super::wire::{NewSandbox, Page, ProxyUrl, Sandbox};
use crate::found::{MOST_PAGES, carrying, endless, understood};
use crate::http::{Address, Call, HttpClient, HttpError, sensitive};
use crate::{DaytonaSettings, Found, PlaceId, PlaceState, ProviderError, ProviderResult, Wish};

const ORGANIZATION: HeaderName = HeaderName::from_static("x-daytona-organization-id");
const SOURCE: HeaderName = HeaderName::from_static("x-daytona-source");
/// Of an answer.
pub(super) const LARGEST: usize = 8 << 20;
/// Between two looks whether it has started.
const PAUSE: Duration = Duration::from_millis(200);

#[derive(Debug)]
pub(super) struct Control {
    pub(super) client: HttpClient,
    pub(super) api: Address,
    pub(super) settings: DaytonaSettings,
    /// The same for the control API and for the toolbox.
    pub(super) headers: HeaderMap,
}

impl Control {
    pub(super) fn new(settings: DaytonaSettings) -> ProviderResult<Self> {
        let api = Address::parse(&settings.url)
            .map_err(|error| ProviderError::Unreachable(format!("url: {error}")))?;
        if settings.snapshot.is_some() && settings.image.is_some() {
            return Err(ProviderError::Unsupported("a snapshot and an image at once"));
        }
        let mut headers = HeaderMap::new();
        headers.insert(header::AUTHORIZATION, sensitive(&format!("Bearer {}", settings.api_key.expose()))?);
        headers.insert(SOURCE, HeaderValue::from_static("sandgate"));
        if let Some(organization) = &settings.organization {
            let value = HeaderValue::try_from(organization);
            headers.insert(ORGANIZATION, value.map_err(|error| HttpError::Ours(error.to_string()))?);
        }
        let client = HttpClient::new(&settings.deadlines, &settings.reach)?;
        Ok(Self { client, api, settings, headers })
    }

    pub(super) async fn create(&self, wish: &Wish) -> ProviderResult<Sandbox> {
        let call = self.call(Method::POST, "", &[])?.silence(self.settings.deadlines.create);
        let answer = self.client.demand(call.json(&NewSandbox::of(wish, &self.settings)?)?).await?;
        Ok(answer.json(LARGEST).await?)
    }

    /// Waits until it runs; who calls bounds the time.
    pub(super) async fn started(&self, mut sandbox: Sandbox) -> ProviderResult<Sandbox> {
        let id = sandbox.id()?;
        loop {
            match sandbox.state() {
                Some(PlaceState::Running) => return Ok(sandbox),
                Some(PlaceState::Broken) => return Err(ProviderError::Failed(sandbox.reason())),
                Some(PlaceState::Paused) => {
                    return Err(ProviderError::Failed("it stopped before it had started".to_owned()));
                }
                Some(PlaceState::Changing) => {}
                None => return Err(ProviderError::Lost),
            }
            tokio::time::sleep(PAUSE).await;
            sandbox = self.get(&id).await?;
        }
    }

    pub(super) async fn get(&self, id: &PlaceId) -> ProviderResult<Sandbox> {
        let call = self.call(Method::GET, &format!("/{id}"), &[])?;
        Ok(self.client.of_sandbox(call).await?.json(LARGEST).await?)
    }

    /// What a refusal of the toolbox means. The proxy before it answers for a sandbox that is gone with the same
    /// statuses as the toolbox for a file that is: who made the sandbox knows.
    pub(super) async fn lost_or(
        &self,
        id: &PlaceId,
        error: HttpError,
        otherwise: impl FnOnce(HttpError) -> ProviderError,
    ) -> ProviderError {
        let may_be_gone = matches!(error.status(), Some(StatusCode::BAD_REQUEST | StatusCode::NOT_FOUND));
        if may_be_gone && self.is_gone(id).await { ProviderError::Lost } else { otherwise(error) }
    }

    async fn is_gone(&self, id: &PlaceId) -> bool {
        match self.get(id).await {
            Ok(sandbox) => sandbox.state().is_none(),
            Err(error) => error == ProviderError::Lost,
        }
    }

    pub(super) async fn start(&self, id: &PlaceId) -> ProviderResult<Sandbox> {
        let call = self.call(Method::POST, &format!("/{id}/start"), &[])?;
        Ok(self.client.of_sandbox(call).await?.json(LARGEST).await?)
    }

    pub(super) async fn delete(&self, id: &PlaceId) -> ProviderResult<()> {
        let call = self.call(Method::DELETE, &format!("/{id}"), &[])?;
        self.client.delete(call).await
    }

    /// `minutes`: from now on, however old it is.
    pub(super) async fn live_for(&self, id: &PlaceId, minutes: u64) -> ProviderResult<()> {
        let call = self.call(Method::POST, &format!("/{id}/ttl/{minutes}"), &[])?;
        self.client.order(call).await
    }

    pub(super) async fn find(&self, metadata: &BTreeMap<String, String>) -> ProviderResult<Vec<Found>> {
        let labels = serde_json::to_string(metadata).map_err(|error| HttpError::Ours(error.to_string()))?;
        let mut all = Vec::new();
        let mut cursor: Option<String> = None;
        for _ in 0..MOST_PAGES {
            let mut query = vec![("labels", labels.as_str()), ("limit", "200")];
            query.extend(cursor.as_deref().map(|cursor| ("cursor", cursor)));
            let page: Page =
                self.client.demand(self.call(Method::GET, "", &query)?).await?.json(LARGEST).await?;
            for sandbox in page.items {
                all.extend(understood(sandbox.into_found()));
            }
            cursor = page.next_cursor.filter(|cursor| !cursor.is_empty());
            if cursor.is_none() {
                return Ok(carrying(all, metadata));
            }
        }
        Err(endless())
    }

    /// Where the toolbox of a sandbox is; the same key opens it.
    pub(super) async fn toolbox(&self, id: &PlaceId, sandbox: &Sandbox) -> ProviderResult<Address> {
        let url = match sandbox.toolbox_proxy_url.clone().filter(|url| !url.is_empty()) {
            Some(url) => url,
            None => {
                let call = self.call(Method::GET, &format!("/{id}/toolbox-proxy-url"), &[])?;
                self.client.of_sandbox(call).await?.json::<ProxyUrl>(LARGEST).await?.url
            }
        };
        let address = Address::parse(&format!("{}/{id}", url.trim_end_matches('/')));
        let address = address
            .map_err(|_| ProviderError::Garbage("an address of the toolbox that is none".to_owned()))?;
        // The account's key goes there: never in the clear when the API itself is not.
        if self.api.is_https() && !address.is_https() {
            return Err(ProviderError::Garbage("a toolbox without TLS".to_owned()));
        }
        Ok(address)
    }

    fn call(&self, method: Method, path: &str, query: &[(&str, &str)]) -> Result<Call, HttpError> {
        Ok(Call::new(method, &self.api, &format!("/sandbox{path}"), query)?.with(&self.headers))
    }
}

//! E2B's control plane: sandboxes made, found, kept and ended. The second version first; where a server does not
//! know it, the first.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
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
    only_first: OnlyFirst,
}

/// Where the server was found to have only the first version. Each operation by itself: servers have some of the
/// second and not others.
#[derive(Debug, Default)]
struct OnlyFirst {
    create: AtomicBool,
    connect: AtomicBool,
    find: AtomicBool,
}

/// What came of asking by the second version.
enum Second {
    Answered(Answer),
    /// Perhaps it is not known there; how that was said, unless nobody asked.
    Unknown(Option<HttpError>),
}

impl Control {
    pub(super) fn new(settings: E2bSettings) -> ProviderResult<Self> {
        let addresses = Addresses::new(&settings)?;
        let client = HttpClient::new(&settings.deadlines, &settings.reach)?;
        Ok(Self { client, addresses, settings, only_first: OnlyFirst::default() })
    }

    pub(super) async fn create(&self, wish: &Wish) -> ProviderResult<Sandbox> {
        let mut body = NewSandbox::of(wish, &self.settings.template);
        let silence = self.settings.deadlines.create;
        let second = self.call(Method::POST, "/v2/sandboxes", &[])?.silence(silence).json(&body)?;
        let said = match self.try_second(&self.only_first.create, second).await? {
            Second::Answered(answer) => return Ok(answer.success().await?.json(LARGEST).await?),
            Second::Unknown(said) => said,
        };
        body.secure = Some(true);
        let first = self.call(Method::POST, "/sandboxes", &[])?.silence(silence);
        match self.client.demand(first.json(&body)?).await {
            Ok(answer) => {
                self.only_first.create.store(true, Ordering::Relaxed);
                Ok(answer.json(LARGEST).await?)
            }
            Err(error) => Err(either(said, error).into()),
        }
    }

    /// Wakes it if it is paused; gives it at least so much time.
    pub(super) async fn connect(&self, id: &PlaceId, life: Duration) -> ProviderResult<Sandbox> {
        let body = Timeout { timeout: seconds(life) };
        let second = self.call(Method::POST, &format!("/v2/sandboxes/{id}/connect"), &[])?.json(&body)?;
        let said = match self.try_second(&self.only_first.connect, second).await? {
            Second::Answered(answer) => return Ok(answer.success().await?.json(LARGEST).await?),
            Second::Unknown(said) => said,
        };
        let first = self.call(Method::POST, &format!("/sandboxes/{id}/connect"), &[])?.json(&body)?;
        match self.client.demand(first).await {
            Ok(answer) => {
                self.only_first.connect.store(true, Ordering::Relaxed);
                Ok(answer.json(LARGEST).await?)
            }
            Err(error) => Err(of_sandbox(either(said, error))),
        }
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
            let answer = match self.try_second(&self.only_first.find, second).await? {
                Second::Answered(answer) => answer.success().await?,
                Second::Unknown(_) => {
                    let first = self.call(Method::GET, "/sandboxes", &[("metadata", &asked)])?;
                    let answer = self.client.demand(first).await?;
                    self.only_first.find.store(true, Ordering::Relaxed);
                    answer
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

    /// A 404 may mean that the server does not know the second version, or that what is asked for is not there; the
    /// first version tells which.
    async fn try_second(&self, only_first: &AtomicBool, call: Call) -> ProviderResult<Second> {
        if only_first.load(Ordering::Relaxed) {
            return Ok(Second::Unknown(None));
        }
        let answer = self.client.ask(call).await?;
        Ok(match answer.status {
            StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED => {
                Second::Unknown(Some(answer.refusal().await))
            }
            _ => Second::Answered(answer),
        })
    }

    async fn order(&self, id: &PlaceId, what: &str, body: &impl Serialize) -> ProviderResult<()> {
        let call = self.call(Method::POST, &format!("/sandboxes/{id}/{what}"), &[])?.json(body)?;
        self.client.order(call).await
    }

    fn call(&self, method: Method, path: &str, query: &[(&str, &str)]) -> Result<Call, HttpError> {
        Call::new(method, &self.addresses.api, path, query)?.secret(API_KEY, &self.settings.api_key)
    }
}

/// Of two versions that said no, the words of the one that knew what was meant; where both say that something is not
/// there, nobody can tell which it was, and both are told.
fn either(second: Option<HttpError>, first: HttpError) -> HttpError {
    let Some(second) = second else { return first };
    match (second.status(), first.status()) {
        (Some(StatusCode::NOT_FOUND), Some(StatusCode::METHOD_NOT_ALLOWED)) => second,
        (Some(StatusCode::NOT_FOUND), Some(status @ StatusCode::NOT_FOUND)) => {
            let message = format!("by the second version {second}, by the first {first}");
            HttpError::Refused { status, code: None, message, retry_after: None }
        }
        _ => first,
    }
}

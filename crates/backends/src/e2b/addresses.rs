//! The three ways to find E2B's servers: names of its cloud, names of one's own domain, or one address for all.

use crate::http::{Address, is_host};
use crate::{E2bSettings, PlaceId, ProviderError, ProviderResult};

#[derive(Debug)]
pub(super) struct Addresses {
    pub(super) api: Address,
    domain: String,
    sandbox: Option<Address>,
}

impl Addresses {
    pub(super) fn new(settings: &E2bSettings) -> ProviderResult<Self> {
        let wrong = |what: &str| {
            let what = what.to_owned();
            move |error: crate::http::InvalidAddress| ProviderError::Unreachable(format!("{what}: {error}"))
        };
        if !is_host(&settings.domain) {
            return Err(ProviderError::Unreachable("the domain is no name of a host".to_owned()));
        }
        let api = settings.api_url.clone().unwrap_or_else(|| format!("https://api.{}", settings.domain));
        let sandbox = settings.sandbox_url.as_deref().map(Address::parse).transpose();
        Ok(Self {
            api: Address::parse(&api).map_err(wrong("api_url"))?,
            domain: settings.domain.clone(),
            sandbox: sandbox.map_err(wrong("sandbox_url"))?,
        })
    }

    pub(super) fn need_https(&self) -> bool {
        self.api.is_https() || self.sandbox.as_ref().is_none_or(Address::is_https)
    }

    /// Where a port of a sandbox is. `domain`: as the server said it for this sandbox.
    pub(super) fn port(&self, id: &PlaceId, domain: Option<&str>, port: u16) -> ProviderResult<Address> {
        if let Some(address) = &self.sandbox {
            return Ok(address.clone());
        }
        let domain = domain.filter(|domain| !domain.is_empty()).unwrap_or(&self.domain);
        let garbage = || ProviderError::Garbage(format!("'{id}' cannot be the name of a sandbox's host"));
        let host = format!("{port}-{id}.{domain}");
        // Only what is one label: a dot in the id would lead to another host.
        if id.as_str().contains('.') || !is_host(&host) {
            return Err(garbage());
        }
        Address::parse(&format!("https://{host}")).map_err(|_| garbage())
    }
}

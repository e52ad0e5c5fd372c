//! The ways to find E2B's servers: names of its cloud, names of one's own domain, or one address for all.

use crate::http::{Address, is_host};
use crate::{E2bSettings, PlaceId, ProviderError, ProviderResult};

/// Of E2B's cloud: there `sandbox.DOMAIN` stands for every sandbox, told apart by headers, so that one connection
/// serves many of them.
const CLOUD: [&str; 7] = [
    "e2b.app",
    "e2b.dev",
    "e2b.pro",
    "e2b-staging.dev",
    "e2b-tango.dev",
    "e2b-juliett.dev",
    "foxtrot-2.e2b.dev",
];

#[derive(Debug)]
pub(super) struct Addresses {
    pub(super) api: Address,
    /// None: only the server can say it.
    domain: Option<String>,
    sandbox: Option<Address>,
}

impl Addresses {
    pub(super) fn new(settings: &E2bSettings) -> ProviderResult<Self> {
        let wrong = |what: &str| {
            let what = what.to_owned();
            move |error: crate::http::InvalidAddress| ProviderError::Unreachable(format!("{what}: {error}"))
        };
        if settings.domain.as_deref().is_some_and(|domain| !is_host(domain)) {
            return Err(ProviderError::Unreachable("the domain is no name of a host".to_owned()));
        }
        let cloud = || format!("https://api.{}", settings.domain.as_deref().unwrap_or(CLOUD[0]));
        let api = Address::parse(&settings.api_url.clone().unwrap_or_else(cloud));
        let api = api.map_err(wrong("api_url"))?;
        let sandbox = settings.sandbox_url.as_deref().map(Address::parse).transpose();
        Ok(Self {
            // Names of a server are `api.DOMAIN`. Whatever is not is no reason to send code to E2B's cloud.
            domain: settings.domain.clone().or_else(|| Some(api.host().strip_prefix("api.")?.to_owned())),
            sandbox: sandbox.map_err(wrong("sandbox_url"))?,
            api,
        })
    }

    /// Where a port of a sandbox is. `domain`: as the server said it for this sandbox.
    pub(super) fn port(&self, id: &PlaceId, domain: Option<&str>, port: u16) -> ProviderResult<Address> {
        if let Some(address) = &self.sandbox {
            return Ok(address.clone());
        }
        let Some(domain) = domain.filter(|domain| !domain.is_empty()).or(self.domain.as_deref()) else {
            let what =
                "it gave no domain for its sandbox; say 'domain' or 'sandbox_url' in the configuration";
            return Err(ProviderError::Garbage(what.to_owned()));
        };
        let garbage = || ProviderError::Garbage(format!("'{id}' cannot be the name of a sandbox's host"));
        let host = match CLOUD.contains(&domain) {
            true => format!("sandbox.{domain}"),
            false => format!("{port}-{id}.{domain}"),
        };
        // Only what is one label: a dot in the id would lead to another host.
        if id.as_str().contains('.') || !is_host(&host) {
            return Err(garbage());
        }
        Address::parse(&format!("https://{host}")).map_err(|_| garbage())
    }
}

#[cfg(test)]
#[path = "addresses_tests.rs"]
mod tests;

//! What is said with E2B's control plane.

use std::collections::BTreeMap;

use sandgate_core::Secret;
use serde::{Deserialize, Deserializer, Serialize};

use crate::{Found, NetworkWish, PlaceId, PlaceState, ProviderResult, Wish};

/// All of the internet, as a block of addresses.
const ALL: &str = "0.0.0.0/0";

#[derive(Debug, Serialize)]
pub(super) struct NewSandbox<'a> {
    #[serde(rename = "templateID")]
    template: &'a str,
    timeout: u64,
    metadata: &'a BTreeMap<String, String>,
    #[serde(rename = "envVars")]
    env: BTreeMap<&'a str, &'a str>,
    allow_internet_access: bool,
    network: Network<'a>,
    /// Version 1 has it, version 2 always does so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) secure: Option<bool>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Network<'a> {
    /// Nobody without the sandbox's token.
    allow_public_traffic: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    allow_out: Vec<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    deny_out: Vec<&'a str>,
}

impl<'a> NewSandbox<'a> {
    pub(super) fn of(wish: &'a Wish, template: &'a str) -> Self {
        let (internet, allow_out) = match &wish.network {
            NetworkWish::Nothing => (false, Vec::new()),
            NetworkWish::Only(targets) => (true, targets.iter().map(String::as_str).collect()),
            NetworkWish::Everything => (true, Vec::new()),
        };
        let deny_out = if wish.network == NetworkWish::Everything { Vec::new() } else { vec![ALL] };
        Self {
            template,
            timeout: seconds(wish.life),
            metadata: &wish.metadata,
            env: wish.env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect(),
            allow_internet_access: internet,
            network: Network { allow_public_traffic: false, allow_out, deny_out },
            secure: None,
        }
    }
}

/// Whole seconds, never less than what was meant.
pub(super) fn seconds(life: std::time::Duration) -> u64 {
    life.as_secs() + u64::from(life.subsec_nanos() > 0)
}

#[derive(Debug, Serialize)]
pub(super) struct Timeout {
    pub(super) timeout: u64,
}

/// The answer to making a sandbox or to connecting to one.
#[derive(Debug, Deserialize)]
pub(super) struct Sandbox {
    #[serde(rename = "sandboxID")]
    id: String,
    #[serde(rename = "envdAccessToken", default, deserialize_with = "secret")]
    pub(super) envd_token: Option<Secret>,
    #[serde(rename = "trafficAccessToken", default, deserialize_with = "secret")]
    pub(super) traffic_token: Option<Secret>,
    #[serde(default)]
    pub(super) domain: Option<String>,
}

impl Sandbox {
    pub(super) fn id(&self) -> ProviderResult<PlaceId> {
        PlaceId::parse(&self.id)
    }
}

fn secret<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Secret>, D::Error> {
    let text = Option::<String>::deserialize(from)?;
    Ok(text.filter(|text| !text.is_empty()).map(Secret::new))
}

/// A sandbox in a list, and asked for by its id.
#[derive(Debug, Deserialize)]
pub(super) struct Listed {
    #[serde(rename = "sandboxID")]
    id: String,
    #[serde(rename = "clientID", default)]
    client: Option<String>,
    #[serde(default)]
    state: Option<String>,
    #[serde(default)]
    metadata: Option<BTreeMap<String, String>>,
}

impl Listed {
    pub(super) fn state(&self) -> PlaceState {
        match self.state.as_deref() {
            // The first version lists nothing else, and does not say so.
            None | Some("running") => PlaceState::Running,
            Some("paused") => PlaceState::Paused,
            Some(_) => PlaceState::Changing,
        }
    }

    /// As it was when the sandbox was made: old servers put the name of a machine behind it in lists. Others have ids
    /// with such a mark in them.
    fn plain_id(&self) -> &str {
        let cut = match &self.client {
            Some(client) => self.id.strip_suffix(client.as_str()).and_then(|id| id.strip_suffix('-')),
            // E2B's own ids have none.
            None => self.id.split('-').next(),
        };
        cut.filter(|id| !id.is_empty()).unwrap_or(&self.id)
    }

    pub(super) fn into_found(self) -> ProviderResult<Found> {
        let state = self.state();
        let id = self.plain_id();
        Ok(Found { id: PlaceId::parse(id)?, metadata: self.metadata.unwrap_or_default(), state })
    }
}

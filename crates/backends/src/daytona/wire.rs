//! What is said with Daytona's control API.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{DaytonaSettings, Found, NetworkWish, PlaceId, PlaceState, ProviderError, ProviderResult, Wish};

const GIB: u64 = 1 << 30;

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct NewSandbox<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    snapshot: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    build_info: Option<Build>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<&'a str>,
    env: BTreeMap<&'a str, &'a str>,
    labels: BTreeMap<&'a str, &'a str>,
    network_block_all: bool,
    /// Separated by commas.
    #[serde(skip_serializing_if = "Option::is_none")]
    network_allow_list: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    domain_allow_list: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    disk: Option<u64>,
    auto_stop_interval: u64,
    /// At once when it stops, so that what is left behind goes by itself.
    auto_delete_interval: u64,
    ttl_minutes: u64,
    volumes: [(); 0],
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Build {
    dockerfile_content: String,
}

impl<'a> NewSandbox<'a> {
    pub(super) fn of(wish: &'a Wish, settings: &'a DaytonaSettings) -> ProviderResult<Self> {
        let mut labels: BTreeMap<&str, &str> =
            wish.metadata.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        labels.insert("code-toolbox-language", "python");
        let mut new = Self {
            target: settings.target.as_deref(),
            env: wish.env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect(),
            labels,
            // Never by idling: only people count as use there, code that runs does not.
            auto_stop_interval: 0,
            ttl_minutes: minutes(wish.life),
            ..Self::default()
        };
        match &settings.image {
            None => new.snapshot = settings.snapshot.as_deref(),
            Some(image) => {
                new.build_info = Some(Build { dockerfile_content: format!("FROM {image}\n") });
                new.cpu = wish.cpu_millis.map(|millis| u64::from(millis.div_ceil(1000)));
                new.memory = wish.memory_bytes.map(|bytes| bytes.div_ceil(GIB));
                new.disk = wish.disk_bytes.map(|bytes| bytes.div_ceil(GIB));
            }
        }
        match &wish.network {
            NetworkWish::Nothing => new.network_block_all = true,
            NetworkWish::Everything => {}
            NetworkWish::Only(targets) => {
                let (blocks, domains): (Vec<&String>, Vec<&String>) =
                    targets.iter().partition(|target| is_block(target));
                new.network_allow_list = joined(blocks.into_iter().map(|block| with_length(block)));
                new.domain_allow_list = joined(domains.into_iter().cloned());
                if new.network_allow_list.is_none() && new.domain_allow_list.is_none() {
                    return Err(ProviderError::Unsupported("a network that allows nothing by name"));
                }
            }
        }
        Ok(new)
    }
}

/// An address or a block of them, not a name.
fn is_block(target: &str) -> bool {
    target.split('/').next().is_some_and(|address| address.parse::<std::net::IpAddr>().is_ok())
}

fn with_length(block: &str) -> String {
    match block.contains('/') {
        true => block.to_owned(),
        false if block.contains(':') => format!("{block}/128"),
        false => format!("{block}/32"),
    }
}

fn joined(all: impl Iterator<Item = String>) -> Option<String> {
    let all: Vec<String> = all.collect();
    (!all.is_empty()).then(|| all.join(","))
}

/// Whole minutes, never less than what was meant.
pub(super) fn minutes(life: Duration) -> u64 {
    life.as_secs().div_ceil(60).max(1)
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Sandbox {
    id: String,
    #[serde(default)]
    state: Option<String>,
    #[serde(default)]
    error_reason: Option<String>,
    #[serde(default)]
    labels: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) toolbox_proxy_url: Option<String>,
}

impl Sandbox {
    pub(super) fn id(&self) -> ProviderResult<PlaceId> {
        PlaceId::parse(&self.id)
    }

    /// None: it is gone, or on its way there.
    pub(super) fn state(&self) -> Option<PlaceState> {
        Some(match self.state.as_deref() {
            Some("started") => PlaceState::Running,
            Some("stopped" | "paused" | "archived") => PlaceState::Paused,
            Some("error" | "build_failed") => PlaceState::Broken,
            Some("destroyed" | "destroying") => return None,
            _ => PlaceState::Changing,
        })
    }

    pub(super) fn reason(&self) -> String {
        let reason = self.error_reason.as_deref().unwrap_or("the sandbox has failed");
        reason.chars().filter(|c| !c.is_control()).take(500).collect()
    }

    pub(super) fn into_found(self) -> ProviderResult<Option<Found>> {
        let Some(state) = self.state() else { return Ok(None) };
        Ok(Some(Found { id: self.id()?, metadata: self.labels, state }))
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Page {
    pub(super) items: Vec<Sandbox>,
    #[serde(default)]
    pub(super) next_cursor: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ProxyUrl {
    pub(super) url: String,
}

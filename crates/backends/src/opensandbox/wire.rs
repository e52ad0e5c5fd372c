//! What is said with OpenSandbox's lifecycle API.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Found, NetworkWish, OpenSandboxSettings, PlaceId, PlaceState, ProviderResult, Wish};

/// The server takes nothing shorter.
const LEAST_SECONDS: u64 = 60;
const USUAL_MEMORY: &str = "2Gi";
const USUAL_CPU: &str = "1";

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct NewSandbox<'a> {
    image: Image<'a>,
    entrypoint: &'a [String],
    timeout: u64,
    resource_limits: BTreeMap<&'static str, String>,
    env: BTreeMap<&'a str, &'a str>,
    metadata: &'a BTreeMap<String, String>,
    /// None: everything. Servers that have nothing to filter with refuse every policy, also that one.
    #[serde(skip_serializing_if = "Option::is_none")]
    network_policy: Option<Policy<'a>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    extensions: &'a BTreeMap<String, String>,
}

#[derive(Debug, Serialize)]
struct Image<'a> {
    uri: &'a str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Policy<'a> {
    default_action: &'static str,
    egress: Vec<Rule<'a>>,
}

#[derive(Debug, Serialize)]
struct Rule<'a> {
    action: &'static str,
    target: &'a str,
}

impl<'a> NewSandbox<'a> {
    pub(super) fn of(wish: &'a Wish, settings: &'a OpenSandboxSettings) -> Self {
        let memory = wish.memory_bytes.map(|bytes| format!("{}Mi", bytes.div_ceil(1 << 20)));
        let cpu = wish.cpu_millis.map(|millis| format!("{millis}m"));
        let limits = [("memory", memory, USUAL_MEMORY), ("cpu", cpu, USUAL_CPU)];
        let allow = |target: &'a String| Rule { action: "allow", target };
        let egress = match &wish.network {
            NetworkWish::Nothing => Some(Vec::new()),
            NetworkWish::Only(targets) => Some(targets.iter().map(allow).collect()),
            NetworkWish::Everything => None,
        };
        Self {
            image: Image { uri: &settings.image },
            entrypoint: &settings.entrypoint,
            timeout: wish.life.as_secs().max(LEAST_SECONDS),
            resource_limits: limits
                .map(|(name, size, usual)| (name, size.unwrap_or(usual.to_owned())))
                .into(),
            env: wish.env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect(),
            metadata: &wish.metadata,
            network_policy: egress.map(|egress| Policy { default_action: "deny", egress }),
            extensions: &settings.extensions,
        }
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Sandbox {
    id: String,
    status: Status,
    #[serde(default)]
    metadata: Option<BTreeMap<String, String>>,
}

#[derive(Debug, Deserialize)]
struct Status {
    state: String,
    #[serde(default)]
    message: Option<String>,
}

impl Sandbox {
    pub(super) fn id(&self) -> ProviderResult<PlaceId> {
        PlaceId::parse(&self.id)
    }

    /// None: it has ended, and only its name is left.
    pub(super) fn state(&self) -> Option<PlaceState> {
        Some(match self.status.state.as_str() {
            "Running" => PlaceState::Running,
            "Paused" => PlaceState::Paused,
            "Failed" => PlaceState::Broken,
            "Terminated" | "Stopping" => return None,
            _ => PlaceState::Changing,
        })
    }

    pub(super) fn reason(&self) -> String {
        let message = self.status.message.as_deref().unwrap_or("no reason is given");
        message.chars().filter(|c| !c.is_control()).take(500).collect()
    }

    pub(super) fn into_found(self) -> ProviderResult<Option<Found>> {
        let Some(state) = self.state() else { return Ok(None) };
        Ok(Some(Found { id: self.id()?, metadata: self.metadata.unwrap_or_default(), state }))
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Page {
    pub(super) items: Vec<Sandbox>,
    pub(super) pagination: Pagination,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Pagination {
    pub(super) has_next_page: bool,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Renewal {
    pub(super) expires_at: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct EndpointAnswer {
    pub(super) endpoint: String,
    #[serde(default)]
    pub(super) headers: Option<BTreeMap<String, String>>,
}

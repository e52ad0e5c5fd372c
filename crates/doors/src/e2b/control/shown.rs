//! A sandbox as E2B shows it: whoever made or joined it, in a list, and in full.

use sandgate_core::{Lease, LeaseState, Limits, OnEnd};
use serde_json::{Map, Value, json};

use super::super::details::Details;
use super::super::{E2bDoor, ENVD_VERSION};
use crate::lent::iso;

/// Older clients put it behind the id.
const CLIENT_ID: &str = "sandgate";
/// A lease without an end says that it ends this late: E2B has no word for never.
const NEVER_MS: u64 = 4_102_444_800_000;

/// To whoever made or joined it: with everything that is needed to get in.
pub(super) fn made(door: &E2bDoor, lease: &Lease) -> Value {
    let details = Details::of(lease);
    json!({
        "templateID": details.template,
        "sandboxID": lease.id,
        "alias": details.template,
        "clientID": CLIENT_ID,
        "envdVersion": ENVD_VERSION,
        "envdAccessToken": details.envd_token,
        "trafficAccessToken": details.traffic_token,
        "domain": door.settings.domain,
    })
}

pub(super) fn listed(door: &E2bDoor, lease: &Lease) -> Value {
    Value::Object(common(door, lease, &Details::of(lease)))
}

pub(super) fn detailed(door: &E2bDoor, lease: &Lease) -> Value {
    let details = Details::of(lease);
    let mut shown = common(door, lease, &details);
    shown.insert("envdAccessToken".to_owned(), details.envd_token.clone().into());
    shown.insert("domain".to_owned(), door.settings.domain.clone().into());
    shown.insert("allowInternetAccess".to_owned(), details.allow_internet.into());
    if let Some(network) = &details.network {
        shown.insert("network".to_owned(), network.clone());
    }
    let on_timeout = match lease.on_end {
        OnEnd::Delete => "kill",
        OnEnd::Pause | OnEnd::PauseFiles => "pause",
    };
    shown.insert("lifecycle".to_owned(), json!({"autoResume": lease.wakes, "onTimeout": on_timeout}));
    Value::Object(shown)
}

fn common(door: &E2bDoor, lease: &Lease, details: &Details) -> Map<String, Value> {
    let limits = door.limits_of(lease);
    let state = match lease.state {
        LeaseState::Running => "running",
        LeaseState::Paused => "paused",
    };
    let fields = [
        ("templateID", details.template.clone().into()),
        ("alias", details.template.clone().into()),
        ("sandboxID", lease.id.clone().into()),
        ("clientID", CLIENT_ID.into()),
        ("startedAt", iso(lease.started_ms).into()),
        ("endAt", iso(lease.ends_ms.unwrap_or(NEVER_MS)).into()),
        ("cpuCount", cpu_count(&limits).into()),
        ("memoryMB", (limits.memory_bytes >> 20).into()),
        ("diskSizeMB", (limits.disk_bytes >> 20).into()),
        ("metadata", json!(lease.metadata)),
        ("state", state.into()),
        ("envdVersion", ENVD_VERSION.into()),
    ];
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Whole processors, as E2B counts them; a part of one is one.
pub(super) fn cpu_count(limits: &Limits) -> u32 {
    limits.cpu_millis.div_ceil(1000).max(1)
}

impl E2bDoor {
    pub(super) fn limits_of(&self, lease: &Lease) -> Limits {
        let container = self.leases.container(lease);
        container.map_or_else(|_| self.spec.limits.clone(), |container| container.spec().limits.clone())
    }
}

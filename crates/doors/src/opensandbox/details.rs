//! What this door keeps of a lease beside what every lease has.

use std::collections::BTreeMap;
use std::sync::Arc;

use sandgate_core::{KeyLimits, Lease};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::DOOR;
use crate::lent::Lent;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Details {
    /// As its maker named it.
    pub(super) image: String,
    /// What it was restored from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) snapshot: Option<String>,
    pub(super) entrypoint: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) platform: Option<Value>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) extensions: BTreeMap<String, String>,
    /// The network as it was asked for, in the form of the egress sidecar's rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) network: Option<Value>,
    /// What execd asks for in `X-EXECD-ACCESS-TOKEN`.
    pub(super) execd_token: String,
    /// What the network's rules ask for in `OPENSANDBOX-EGRESS-AUTH`.
    pub(super) egress_token: String,
    /// What every other port asks for in `OpenSandbox-Secure-Access`.
    pub(super) port_token: String,
    /// Seconds by which every way in puts off its end, if its maker asked for that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) renews: Option<u64>,
    /// Milliseconds since 1970, when it was last paused or resumed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) changed_ms: Option<u64>,
    /// The id of the key it was made with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) key: Option<String>,
    /// What that key might do when it last made or resumed the sandbox.
    #[serde(with = "crate::lent::shared")]
    pub(super) limits: Arc<KeyLimits>,
}

impl Details {
    /// Details that cannot be read have no tokens, and nobody is let in without one.
    pub(super) fn of(lease: &Lease) -> Arc<Self> {
        lease.parsed(|lease| {
            Self::deserialize(&lease.details).unwrap_or_else(|error| {
                tracing::error!(lease = lease.id, %error, "the details of a lease cannot be read");
                Self::default()
            })
        })
    }

    pub(super) fn value(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

impl Lent for Details {
    const DOOR: &'static str = DOOR;

    fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    fn limits(&self) -> &Arc<KeyLimits> {
        &self.limits
    }
}

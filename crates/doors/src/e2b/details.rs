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
    pub(super) template: String,
    /// Variables of the sandbox.
    pub(super) env: BTreeMap<String, String>,
    /// What envd asks for in `X-Access-Token`.
    pub(super) envd_token: String,
    /// What every other port asks for in `E2B-Traffic-Access-Token`.
    pub(super) traffic_token: String,
    /// As it was asked for, to be said back.
    pub(super) network: Option<Value>,
    pub(super) allow_internet: Option<bool>,
    /// The same when it was made, to which an update that does not say it goes back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) internet_at_first: Option<bool>,
    /// Seconds it was asked to last.
    pub(super) timeout: u64,
    /// The id of the key it was made with.
    pub(super) key: Option<String>,
    /// What that key might do when it last made or resumed the sandbox.
    #[serde(with = "crate::lent::shared")]
    pub(super) limits: Arc<KeyLimits>,
    /// The key of the request that made it, and a digest of its body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) idempotency: Option<(String, String)>,
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

    /// Whether its maker asked that nobody come in without the token.
    pub(super) fn is_private(&self) -> bool {
        let network = self.network.as_ref();
        network.and_then(|network| network.get("allowPublicTraffic")) == Some(&Value::Bool(false))
    }

    /// Whether its maker said that TLS is spoken at the port.
    pub(super) fn speaks_tls(&self, port: u16) -> bool {
        let ports = self.network.as_ref().and_then(|network| network.get("httpsPorts")?.as_array());
        ports.is_some_and(|ports| ports.iter().any(|named| named.as_u64() == Some(port.into())))
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

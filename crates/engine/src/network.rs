//! What the engine needs to let sandboxes reach anything: who serves their sockets, and what stands above every
//! policy.

use std::fmt;
use std::sync::Arc;

use sandgate_core::SandboxId;
use sandgate_core::network::{NetworkCeiling, NetworkLimits, NetworkPolicy};
use sandgate_egress::{Egress, EgressConfig, LivePolicy, Seen};

use crate::StartError;

/// Told of every connection of a sandbox when it has ended or was refused. Must not block.
pub type Told = Arc<dyn Fn(&SandboxId, Seen) + Send + Sync>;

/// The operator's part.
#[derive(Clone)]
pub struct NetworkConfig {
    pub egress: EgressConfig,
    /// The most that any policy opens; asked on every connection.
    pub ceiling: NetworkCeiling,
    /// Of one sandbox.
    pub limits: NetworkLimits,
    pub told: Told,
}

impl Default for NetworkConfig {
    /// For whoever starts the engine by hand: policies are bounded by nothing but the addresses that nobody reaches.
    fn default() -> Self {
        Self {
            egress: EgressConfig::default(),
            ceiling: NetworkCeiling::unbounded(),
            limits: NetworkLimits::default(),
            told: Arc::new(|_, _| {}),
        }
    }
}

impl fmt::Debug for NetworkConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { egress, ceiling, limits, told: _ } = self;
        f.debug_struct("NetworkConfig")
            .field("egress", egress)
            .field("ceiling", ceiling)
            .field("limits", limits)
            .finish_non_exhaustive()
    }
}

pub(crate) struct Network {
    pub(crate) egress: Arc<Egress>,
    pub(crate) told: Told,
    ceiling: NetworkCeiling,
    limits: NetworkLimits,
}

impl Network {
    pub(crate) fn start(config: NetworkConfig) -> Result<Self, StartError> {
        let NetworkConfig { egress, ceiling, limits, told } = config;
        let egress = Egress::new(egress).map_err(|error| StartError::Network(error.to_string()))?;
        Ok(Self { egress, told, ceiling, limits })
    }

    pub(crate) fn live(&self, policy: NetworkPolicy) -> LivePolicy {
        LivePolicy::new(policy, vec![self.ceiling.clone()], self.limits)
    }
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Network").field("ceiling", &self.ceiling).finish_non_exhaustive()
    }
}

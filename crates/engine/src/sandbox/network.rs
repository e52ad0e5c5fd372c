//! What a sandbox reaches, from its beginning and after a change.

use std::sync::PoisonError;

use sandgate_core::network::NetworkPolicy;
use sandgate_core::{BackendError, Result};

use super::EngineSandbox;
use crate::way_out;

impl EngineSandbox {
    /// What its spec says of the network becomes true.
    pub(crate) async fn open_network(&self) -> Result<()> {
        self.reach(self.spec.network.clone()).await
    }

    async fn reach(&self, policy: NetworkPolicy) -> Result<()> {
        self.way_out.set(&self.shared, &self.volume.id, &self.init, &self.files, policy).await
    }

    pub(super) async fn change_network(&self, policy: NetworkPolicy) -> Result<()> {
        if self.is_stopped() {
            return Err(BackendError::NoSuchSandbox(self.volume.id.clone()));
        }
        let variables = way_out::variables(&policy);
        self.reach(policy).await?;
        *self.later_env.lock().unwrap_or_else(PoisonError::into_inner) = variables;
        Ok(())
    }
}

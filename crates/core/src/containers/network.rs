//! What containers may reach: granted here for every door alike, and changed while they live.

use std::sync::{Arc, PoisonError};

use serde_json::Value;

use super::container::{Container, Life};
use super::{Containers, NewContainer, registry_failed};
use crate::network::NetworkPolicy;
use crate::network_rules::grant_fixed;
use crate::{BackendError, KeyLimits, NetworkBy, Result};

impl Containers {
    /// Every door's containers pass here, so that none reaches more than the server and the key allow.
    pub(super) fn grant_network(&self, new: &mut NewContainer) -> Result<()> {
        let asked = new.network.take();
        new.spec.network = self.network_on(new.spec.backend.as_deref(), asked, &new.allowance)?;
        Ok(())
    }

    /// The policy that is granted for what is asked; None asks for nothing in particular.
    pub fn network_within(
        &self,
        asked: Option<NetworkPolicy>,
        allowance: &KeyLimits,
    ) -> Result<NetworkPolicy> {
        let backend = allowance.asked_backend.as_deref().or(allowance.backend.as_deref());
        self.network_on(backend, asked, allowance)
    }

    fn network_on(
        &self,
        backend: Option<&str>,
        asked: Option<NetworkPolicy>,
        allowance: &KeyLimits,
    ) -> Result<NetworkPolicy> {
        let key = allowance.network.as_deref();
        let granted = match self.backend.network(backend) {
            NetworkBy::Policy => self.config.network.grant(asked, key),
            NetworkBy::Backend(own) if own.is_disabled() => {
                let opens = asked.as_ref().is_some_and(|asked| !asked.is_disabled());
                let granted = self.config.network.grant(asked, key);
                if opens && granted.is_ok() {
                    return Err(BackendError::Unsupported("giving a sandbox a network policy"));
                }
                granted.map(|_| own)
            }
            // What is usual here says nothing of sandboxes that are made elsewhere.
            NetworkBy::Backend(own) => grant_fixed(own, asked, key),
        };
        granted.map_err(|refused| BackendError::Invalid(refused.to_string()))
    }

    /// For who asks for the internet as a whole: all of it, or None where that is not allowed.
    #[must_use]
    pub fn widest_network(&self, allowance: &KeyLimits) -> Option<NetworkPolicy> {
        match self.backend.network(allowance.asked_backend.as_deref().or(allowance.backend.as_deref())) {
            NetworkBy::Policy => self.config.network.widest(allowance.network.as_deref()),
            NetworkBy::Backend(_) => None,
        }
    }

    /// Whether [`Containers::set_network`] would grant this.
    pub fn check_network(
        &self,
        container: &Container,
        asked: Option<NetworkPolicy>,
        allowance: &KeyLimits,
    ) -> Result<()> {
        if container.is_lent() {
            return Err(BackendError::Invalid(
                "this container is a sandbox of E2B's or OpenSandbox's API; change its network there"
                    .to_owned(),
            ));
        }
        self.network_on(container.record.spec.backend.as_deref(), asked, allowance).map(|_| ())
    }

    /// Changes what a container may reach, at once if it runs. `said`: the policy as it is said back. Not that of one
    /// that is lent: its door tells what it reaches by a record of its own.
    pub async fn set_network(
        &self,
        container: &Arc<Container>,
        asked: Option<NetworkPolicy>,
        said: Option<Value>,
        allowance: &KeyLimits,
    ) -> Result<()> {
        self.check_network(container, asked.clone(), allowance)?;
        self.exchange_network(container, asked, said, allowance).await
    }

    /// The same for the door that lent it.
    pub async fn set_lent_network(
        &self,
        container: &Arc<Container>,
        asked: Option<NetworkPolicy>,
        allowance: &KeyLimits,
    ) -> Result<()> {
        self.exchange_network(container, asked, None, allowance).await
    }

    async fn exchange_network(
        &self,
        container: &Arc<Container>,
        asked: Option<NetworkPolicy>,
        said: Option<Value>,
        allowance: &KeyLimits,
    ) -> Result<()> {
        let backend = container.record.spec.backend.as_deref();
        let mut policy = self.network_on(backend, asked, allowance)?;
        keep_placeholders(&mut policy, &container.network());
        let (container, registry) = (Arc::clone(container), Arc::clone(&self.registry));
        // In a task of its own: a caller that leaves meanwhile must not leave a change that is not on record.
        let changed = tokio::spawn(async move {
            // Nobody starts or ends it meanwhile: a sandbox that is just being started would miss the change.
            let life = container.life.lock().await;
            match &*life {
                Life::Deleted => return Err(container.no_such()),
                Life::Live(live) if live.sandbox.is_alive() && policy != container.network() => {
                    live.sandbox.set_network(policy.clone()).await?;
                }
                Life::Live(_) | Life::Asleep => {}
            }
            *container.network.lock().unwrap_or_else(PoisonError::into_inner) = Some((policy, said));
            let _saving = container.saving.lock().await;
            registry.save(&container.current()).await.map_err(registry_failed)
        });
        changed.await.map_err(|_| BackendError::Engine("changing a network was abandoned".to_owned()))?
    }
}

/// What runs already knows a secret by its old placeholder.
fn keep_placeholders(new: &mut NetworkPolicy, old: &NetworkPolicy) {
    for secret in &mut new.secrets {
        let same = old.secrets.iter().find(|one| one.name == secret.name && one.domain == secret.domain);
        if let Some(same) = same {
            secret.placeholder.clone_from(&same.placeholder);
        }
    }
}

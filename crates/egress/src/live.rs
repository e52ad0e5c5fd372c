//! The policy of a sandbox while it runs: it can be exchanged, and connections that it no longer allows end.

use std::sync::Arc;

use sandgate_core::network::{Destination, HostName, NetworkCeiling, NetworkLimits, NetworkPolicy, Verdict};
use tokio::sync::watch;

/// Clones share what they hold.
#[derive(Clone, Debug)]
pub struct LivePolicy(watch::Sender<Arc<Effective>>);

/// A policy with everything that stands above it.
#[derive(Clone, Debug)]
pub(crate) struct Effective {
    pub(crate) policy: NetworkPolicy,
    above: Arc<Above>,
    pub(crate) limits: NetworkLimits,
}

/// The ceilings, made ready to be asked: each connection and each question for a name asks all of them.
#[derive(Debug)]
struct Above {
    rules: Vec<NetworkPolicy>,
    registries: bool,
}

impl LivePolicy {
    /// Each of `ceilings` must allow what the policy allows, on every connection. The engine gives the operator's; a
    /// key's is asked when a policy is granted and whenever the key runs code.
    #[must_use]
    pub fn new(policy: NetworkPolicy, ceilings: Vec<NetworkCeiling>, limits: NetworkLimits) -> Self {
        let registries = ceilings.iter().all(|ceiling| ceiling.registries);
        let rules = ceilings.iter().map(NetworkCeiling::as_policy).collect();
        let above = Arc::new(Above { rules, registries });
        Self(watch::Sender::new(Arc::new(Effective { policy, above, limits })))
    }

    /// From now on; connections that the new policy does not allow end. Whoever calls has checked it against the
    /// ceilings, so that the client hears of it; here it could only be narrowed silently.
    pub fn exchange(&self, policy: NetworkPolicy) {
        self.0.send_modify(|now| *now = Arc::new(Effective { policy, ..(**now).clone() }));
    }

    #[must_use]
    pub fn policy(&self) -> NetworkPolicy {
        self.now().policy.clone()
    }

    pub(crate) fn now(&self) -> Arc<Effective> {
        Arc::clone(&self.0.borrow())
    }

    pub(crate) fn watch(&self) -> watch::Receiver<Arc<Effective>> {
        self.0.subscribe()
    }
}

/// Why the rules do not let a connection pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// No rule of the sandbox's policy allows it.
    NotAllowed,
    /// A rule of the sandbox's policy denies it.
    ByRule {
        rule: String,
        /// Whether it would be allowed without that rule.
        alone: bool,
    },
    /// The operator's ceiling, or the key's, does not reach there.
    ByCeiling,
}

impl Effective {
    pub(crate) fn decide(&self, to: Destination<'_>) -> Result<(), Refusal> {
        match self.policy.decide(to) {
            Verdict::Allowed => {}
            Verdict::Denied { by: Some(target) } => {
                let alone = self.policy.allows_without(&target, to);
                return Err(Refusal::ByRule { rule: target.to_string(), alone });
            }
            Verdict::Denied { by: None } => return Err(Refusal::NotAllowed),
        }
        match self.above.rules.iter().all(|rules| rules.decide(to) == Verdict::Allowed) {
            true => Ok(()),
            false => Err(Refusal::ByCeiling),
        }
    }

    /// Whether packages may be had.
    pub(crate) fn has_registries(&self) -> bool {
        self.policy.registries && self.above.registries
    }

    /// Whether a name has an address inside: where it could be reached on any port, as far as names can say.
    pub(crate) fn may_resolve(&self, name: &HostName) -> bool {
        self.policy.may_resolve(name) && self.above.rules.iter().all(|rules| rules.may_resolve(name))
    }
}

#[cfg(test)]
#[path = "live_tests.rs"]
mod tests;

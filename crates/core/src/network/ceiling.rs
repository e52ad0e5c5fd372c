//! The most that any policy may open: the operator's for the server, and another for each key.

use serde::{Deserialize, Serialize};

use super::{Action, Destination, HostName, InvalidTarget, NetworkPolicy, Target, Verdict};

/// By default nothing: an operator who says nothing gives no network.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NetworkCeiling {
    /// What policies may allow; every part of a policy must be covered by one of these.
    pub allow: Vec<Target>,
    /// Whether a policy may allow everything; `allow` is not needed then.
    pub open: bool,
    /// Whether policies may use the package registries.
    pub registries: bool,
    /// Never, even when allowed.
    pub deny: Vec<Target>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutsideCeiling {
    #[error("'{0}' is outside of what the operator of this server allows sandboxes to reach")]
    Target(Target),
    #[error("the operator of this server does not allow sandboxes an open network")]
    Open,
    #[error("the operator of this server does not allow sandboxes to use package registries")]
    Registries,
}

impl OutsideCeiling {
    /// The same of a key, which may be given less than others.
    pub(crate) fn of_a_key(&self) -> String {
        match self {
            Self::Target(target) => format!("'{target}' is outside of what the operator allows it to reach"),
            Self::Open => "the operator does not allow it an open network".to_owned(),
            Self::Registries => "the operator does not allow it to use package registries".to_owned(),
        }
    }
}

impl NetworkCeiling {
    /// No bound of its own.
    #[must_use]
    pub fn unbounded() -> Self {
        Self { open: true, registries: true, ..Self::default() }
    }

    /// The words of a key's limits or a configuration: as for a policy.
    pub fn from_words<'a>(words: impl IntoIterator<Item = &'a str>) -> Result<Self, InvalidTarget> {
        let policy = NetworkPolicy::from_words(words)?;
        let open = policy.default == Action::Allow;
        let allow = policy.rules.into_iter().map(|rule| rule.target).collect();
        Ok(Self { allow, open, registries: open || policy.registries, deny: Vec::new() })
    }

    /// Whether a policy asks for no more than this. What it denies is its own affair.
    pub fn check(&self, policy: &NetworkPolicy) -> Result<(), OutsideCeiling> {
        if policy.registries && !self.registries {
            return Err(OutsideCeiling::Registries);
        }
        if self.open {
            return Ok(());
        }
        if policy.default == Action::Allow {
            return Err(OutsideCeiling::Open);
        }
        let covered = |target: &Target| self.allow.iter().any(|own| own.covers(target));
        let mut asked = policy.rules.iter().filter(|rule| rule.action == Action::Allow);
        match asked.find(|rule| !covered(&rule.target)) {
            Some(rule) => Err(OutsideCeiling::Target(rule.target.clone())),
            None => Ok(()),
        }
    }

    /// Whether one connection stays below it: asked again each time, as a ceiling may have come down since.
    #[must_use]
    pub fn decide(&self, to: Destination<'_>) -> Verdict {
        self.as_policy().decide(to)
    }

    /// Whether a policy below it may let a name be looked up.
    #[must_use]
    pub fn may_resolve(&self, name: &HostName) -> bool {
        self.as_policy().may_resolve(name)
    }

    /// What it says, in the form in which it is asked about connections. Who asks often keeps it.
    #[must_use]
    pub fn as_policy(&self) -> NetworkPolicy {
        let mut policy = NetworkPolicy::allow_then_deny(Vec::new(), self.deny.clone());
        policy.rules.extend(NetworkPolicy::allowlist(self.allow.clone()).rules);
        if !self.open {
            policy.default = Action::Deny;
        }
        policy
    }
}

#[cfg(test)]
#[path = "ceiling_tests.rs"]
mod tests;

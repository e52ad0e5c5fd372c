//! The policy of one sandbox: rules of which the first that fits decides, and what happens when none does.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};

use serde::{Deserialize, Serialize};

use super::name::shortened;
use super::target::Host;
use super::{DomainSecret, HostName, InvalidTarget, Target, inner_addresses, word_meant};

/// Stands for the operator's package registries wherever targets are listed. No host is called so.
pub const REGISTRIES: &str = "registries";
/// Rules of one policy; each connection may look at all of them.
const MOST_RULES: usize = 4096;
/// Secrets of one policy; each answer of their domains is searched for all of them.
pub const MOST_SECRETS: usize = 32;
const MOST_SECRET_BYTES: usize = 16 << 10;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    Allow,
    #[default]
    Deny,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    pub action: Action,
    pub target: Target,
}

/// What a sandbox may reach. The default is nothing at all. Addresses that are denied to everybody and the
/// operator's ceiling are beyond it: no rule here opens them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NetworkPolicy {
    /// The first that fits decides.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<Rule>,
    /// When none fits.
    pub default: Action,
    /// The operator's package registries, through the server's cache.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub registries: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<DomainSecret>,
}

/// Where a connection wants to go. A destination by name has an address only once it was resolved.
#[derive(Clone, Copy, Debug)]
pub struct Destination<'a> {
    pub name: Option<&'a HostName>,
    pub address: Option<IpAddr>,
    pub port: u16,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Allowed,
    /// By this rule, or because no rule fits.
    Denied {
        by: Option<Target>,
    },
}

impl NetworkPolicy {
    /// Nothing.
    #[must_use]
    pub fn disabled() -> Self {
        Self::default()
    }

    /// Everything that is not denied to everybody.
    #[must_use]
    pub fn open() -> Self {
        Self { default: Action::Allow, ..Self::default() }
    }

    /// These and nothing else.
    #[must_use]
    pub fn allowlist(targets: Vec<Target>) -> Self {
        Self { rules: rules(Action::Allow, targets).collect(), ..Self::default() }
    }

    /// First what is allowed, then what is denied, then everything. A denial of all of IPv4 or of all of IPv6 means
    /// everything, on the ports that it names, as whoever wrote it had one in mind and not the other.
    #[must_use]
    pub fn allow_then_deny(allowed: Vec<Target>, mut denied: Vec<Target>) -> Self {
        let everything = denied.iter().any(Target::is_everything);
        // A denial of all ports has its other family in the default.
        let some_ports = denied.iter().filter(|target| !target.is_everything());
        let others: Vec<_> = some_ports.filter_map(Target::other_family).collect();
        denied.extend(others);
        let rules = rules(Action::Allow, allowed).chain(rules(Action::Deny, denied)).collect();
        let default = if everything { Action::Deny } else { Action::Allow };
        Self { rules, default, ..Self::default() }
    }

    /// The words of a command line or a configuration: `disabled`, `open`, `registries` and targets, of which the
    /// first two stand alone.
    pub fn from_words<'a>(words: impl IntoIterator<Item = &'a str>) -> Result<Self, InvalidTarget> {
        let words: Vec<_> = words.into_iter().collect();
        match words[..] {
            [] | ["disabled"] => return Ok(Self::disabled()),
            ["open"] => return Ok(Self::open()),
            _ => {}
        }
        let mut policy = Self::default();
        for word in words {
            match word {
                REGISTRIES => policy.registries = true,
                "open" | "disabled" => {
                    let why = "'open' and 'disabled' stand alone";
                    return Err(InvalidTarget::Name { name: word.to_owned(), why });
                }
                target => {
                    if let Some(meant) = word_meant(target) {
                        return Err(InvalidTarget::Word { word: shortened(target), meant });
                    }
                    policy.rules.push(Rule { action: Action::Allow, target: target.parse()? });
                }
            }
        }
        policy.check()?;
        Ok(policy)
    }

    /// What reading it alone does not check.
    pub fn check(&self) -> Result<(), InvalidTarget> {
        let given = self.rules.len() + self.secrets.len();
        if given > MOST_RULES {
            return Err(InvalidTarget::TooManyRules { given, limit: MOST_RULES });
        }
        let given = self.secrets.len();
        if given > MOST_SECRETS {
            return Err(InvalidTarget::TooManySecrets { given, limit: MOST_SECRETS });
        }
        let bytes: usize = self
            .secrets
            .iter()
            .filter_map(|secret| secret.value.as_ref())
            .map(|value| value.expose().len())
            .sum();
        if bytes > MOST_SECRET_BYTES {
            return Err(InvalidTarget::LongSecrets { bytes, limit: MOST_SECRET_BYTES });
        }
        for (index, secret) in self.secrets.iter().enumerate() {
            secret.check()?;
            let is_same = |one: &DomainSecret| one.name == secret.name && one.domain == secret.domain;
            if self.secrets.iter().take(index).any(is_same) {
                let domain = secret.domain.to_string();
                return Err(InvalidTarget::SecretTwice { name: secret.name.clone(), domain });
            }
        }
        Ok(())
    }

    /// Whether nothing at all is reached: such a sandbox gets no sockets.
    #[must_use]
    pub fn is_disabled(&self) -> bool {
        self.default == Action::Deny
            && !self.registries
            && !self.rules.iter().any(|rule| rule.action == Action::Allow)
    }

    /// What the rules say of a destination. One without an address is asked about before its name is resolved:
    /// then a range of addresses fits only if it is everything, so that no lookup leaves for a name that could only
    /// be allowed by where it leads. With the address, ask again.
    #[must_use]
    pub fn decide(&self, to: Destination<'_>) -> Verdict {
        match self.rules.iter().find(|rule| rule.fits(to)) {
            Some(rule) if rule.action == Action::Allow => Verdict::Allowed,
            Some(rule) => Verdict::Denied { by: Some(rule.target.clone()) },
            None if self.default == Action::Allow => Verdict::Allowed,
            None => Verdict::Denied { by: None },
        }
    }

    /// What it would say if no rule were about `target`: whether taking such a rule out is all that is needed.
    #[must_use]
    pub fn allows_without(&self, target: &Target, to: Destination<'_>) -> bool {
        let mut others = self.rules.iter().filter(|rule| rule.target != *target);
        let action = others.find(|rule| rule.fits(to)).map_or(self.default, |rule| rule.action);
        action == Action::Allow
    }

    /// Whether a name may be looked up at all, on whatever port it is meant to be reached.
    #[must_use]
    pub fn may_resolve(&self, name: &HostName) -> bool {
        let mut open = self.default == Action::Allow;
        for rule in self.rules.iter().rev() {
            let about = match &rule.target.host {
                Host::Name(pattern) => pattern.matches(name),
                Host::Address(range) => range.is_everything(),
            };
            match rule.action {
                Action::Allow if about => open = true,
                Action::Deny if about && rule.target.ports == super::Ports::Any => open = false,
                Action::Allow | Action::Deny => {}
            }
        }
        open
    }

    /// The secrets that requests to `name` may carry. Of several with one name, the one whose domain says the most
    /// about it comes first.
    #[must_use]
    pub fn secrets_for(&self, name: &HostName) -> Vec<&DomainSecret> {
        let mut own: Vec<_> = self.secrets.iter().filter(|secret| secret.domain.matches(name)).collect();
        own.sort_by_key(|secret| secret.domain.width());
        own
    }
}

fn rules(action: Action, targets: Vec<Target>) -> impl Iterator<Item = Rule> {
    targets.into_iter().map(move |target| Rule { action, target })
}

impl Rule {
    /// An address inside the address is denied with it; to allow the inner one allows no way to it by another.
    fn fits(&self, to: Destination<'_>) -> bool {
        let carried = || to.address.into_iter().flat_map(inner_addresses);
        let inner = |four: Ipv4Addr| Destination { address: Some(four.into()), ..to };
        fits(&self.target, to)
            || (self.action == Action::Deny && carried().any(|four| fits(&self.target, inner(four))))
    }
}

fn fits(target: &Target, to: Destination<'_>) -> bool {
    let host = match (&target.host, to.address) {
        (Host::Name(pattern), _) => to.name.is_some_and(|name| pattern.matches(name)),
        (Host::Address(range), Some(address)) => range.contains(address),
        (Host::Address(range), None) => range.is_everything(),
    };
    host && target.ports.contains(to.port)
}

impl fmt::Display for Destination<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.name, self.address) {
            (Some(name), _) => write!(f, "{name}:{}", self.port),
            (None, Some(IpAddr::V6(address))) => write!(f, "[{address}]:{}", self.port),
            (None, Some(IpAddr::V4(address))) => write!(f, "{address}:{}", self.port),
            (None, None) => write!(f, "port {}", self.port),
        }
    }
}

#[cfg(test)]
#[path = "policy_tests.rs"]
mod tests;

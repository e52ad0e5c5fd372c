//! What containers of this server may reach: what those get that ask for nothing, and the most that any gets.

use std::collections::HashSet;

use crate::network::{Action, InvalidTarget, NetworkCeiling, NetworkPolicy, OutsideCeiling, Rule, Target};

/// By default nothing, for nobody.
#[derive(Clone, Debug, Default)]
pub struct NetworkRules {
    pub usual: NetworkPolicy,
    pub ceiling: NetworkCeiling,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NetworkRefused {
    #[error(transparent)]
    Server(#[from] OutsideCeiling),
    #[error("this key may not have it: {}", .0.of_a_key())]
    Key(OutsideCeiling),
    #[error("this key may not run code in this container: {}", .0.of_a_key())]
    KeysContainer(OutsideCeiling),
    #[error(
        "what sandboxes of this backend reach is set by the operator of this server: they have {own}, and a request \
         can have that or nothing"
    )]
    Fixed { own: String },
    #[error(transparent)]
    Invalid(#[from] InvalidTarget),
}

/// Whether somebody with this bound of a key may run code in a container with this policy, which another key of the
/// same owner may have asked for, or the same one before it was bound.
pub(crate) fn check_use(policy: &NetworkPolicy, key: Option<&[String]>) -> Result<(), NetworkRefused> {
    let Some(words) = key else { return Ok(()) };
    let key = NetworkCeiling::from_words(words.iter().map(String::as_str))?;
    key.check(policy).map_err(NetworkRefused::KeysContainer)
}

/// The same as [`NetworkRules::grant`] where the operator has set the network of a backend for all of its sandboxes:
/// there is that, or nothing.
pub(crate) fn grant_fixed(
    own: NetworkPolicy,
    asked: Option<NetworkPolicy>,
    key: Option<&[String]>,
) -> Result<NetworkPolicy, NetworkRefused> {
    let key = key.map(|words| NetworkCeiling::from_words(words.iter().map(String::as_str)));
    let within = key.transpose()?.map_or(Ok(()), |key| key.check(&own));
    match asked {
        None => Ok(if within.is_ok() { own } else { NetworkPolicy::disabled() }),
        Some(asked) if asked.is_disabled() => Ok(NetworkPolicy::disabled()),
        Some(asked) if is_same_but_for_ports(&asked, &own) => {
            within.map_err(NetworkRefused::Key)?;
            Ok(own)
        }
        Some(_) => Err(NetworkRefused::Fixed { own: told(&own) }),
    }
}

/// Providers know no ports.
fn is_same_but_for_ports(asked: &NetworkPolicy, own: &NetworkPolicy) -> bool {
    let hosts = |policy: &NetworkPolicy| -> Option<HashSet<Target>> {
        let is_allowed = |rule: &Rule| rule.action == Action::Allow;
        let target = |rule: &Rule| is_allowed(rule).then(|| rule.target.clone().on_any_port());
        policy.rules.iter().map(target).collect()
    };
    let is_plain = !asked.registries && asked.secrets.is_empty() && asked.default == own.default;
    is_plain && hosts(asked).is_some_and(|asked| Some(asked) == hosts(own))
}

fn told(own: &NetworkPolicy) -> String {
    if own.is_disabled() {
        return "nothing".to_owned();
    }
    if own.default == Action::Allow {
        return "everything".to_owned();
    }
    own.rules.iter().map(|rule| rule.target.to_string()).collect::<Vec<_>>().join(", ")
}

impl NetworkRules {
    /// The policy that is granted; `key`: the words of a key's own bound, None for no bound. Whoever asks for
    /// nothing gets the usual, as far as the key allows it, and never an error.
    pub fn grant(
        &self,
        asked: Option<NetworkPolicy>,
        key: Option<&[String]>,
    ) -> Result<NetworkPolicy, NetworkRefused> {
        let key = key.map(|words| NetworkCeiling::from_words(words.iter().map(String::as_str)));
        let key = key.transpose()?;
        let Some(policy) = asked else {
            let fits = key.is_none_or(|key| key.check(&self.usual).is_ok());
            return Ok(if fits { self.usual.clone() } else { NetworkPolicy::disabled() });
        };
        policy.check()?;
        self.ceiling.check(&policy)?;
        if let Some(key) = key {
            key.check(&policy).map_err(NetworkRefused::Key)?;
        }
        Ok(policy)
    }

    /// The policy for who asks for the internet as a whole and takes what there is of it: all, where server and
    /// key allow that, else the usual.
    #[must_use]
    pub fn widest(&self, key: Option<&[String]>) -> Option<NetworkPolicy> {
        self.grant(Some(NetworkPolicy::open()), key).ok()
    }
}

#[cfg(test)]
#[path = "network_rules_tests.rs"]
mod tests;

//! What a sandbox at a provider reaches: what the operator has set for the backend, and no more of it than the
//! container was granted.

use sandgate_core::network::{Action, NetworkPolicy, Rule, Target};

use crate::NetworkWish;

/// What the operator has set, in the words of the gate.
pub(super) fn own(set: &NetworkWish) -> NetworkPolicy {
    match set {
        NetworkWish::Nothing => NetworkPolicy::disabled(),
        NetworkWish::Everything => NetworkPolicy::open(),
        NetworkWish::Only(words) => {
            let targets: Option<Vec<Target>> = words.iter().map(|word| target(word)).collect();
            // What the gate cannot read may be anything: nobody whose key is bounded gets it.
            targets.map_or_else(NetworkPolicy::open, NetworkPolicy::allowlist)
        }
    }
}

/// Providers know no ports.
fn target(word: &str) -> Option<Target> {
    word.parse().ok().map(Target::on_any_port)
}

/// What to ask the provider for. They differ where the container was granted the network of another backend, whose
/// place this one takes, or the operator has set another since.
pub(super) fn within(set: &NetworkWish, granted: &NetworkPolicy) -> NetworkWish {
    if granted.is_disabled() {
        return NetworkWish::Nothing;
    }
    if granted.default == Action::Allow {
        return set.clone();
    }
    let allowed = |rule: &&Rule| rule.action == Action::Allow;
    match set {
        NetworkWish::Nothing => NetworkWish::Nothing,
        NetworkWish::Everything => {
            let words = granted.rules.iter().filter(allowed).filter_map(|rule| host(&rule.target));
            only(words.collect())
        }
        NetworkWish::Only(words) => {
            let covers = |word: &&String| {
                let target = target(word);
                let mut rules = granted.rules.iter().filter(allowed);
                target.is_some_and(|target| rules.any(|rule| rule.target.covers(&target)))
            };
            only(words.iter().filter(covers).cloned().collect())
        }
    }
}

fn only(words: Vec<String>) -> NetworkWish {
    if words.is_empty() { NetworkWish::Nothing } else { NetworkWish::Only(words) }
}

fn host(target: &Target) -> Option<String> {
    let name = target.names().map(ToString::to_string);
    name.or_else(|| target.addresses().map(|range| range.to_string()))
}

#[cfg(test)]
#[path = "network_tests.rs"]
mod tests;

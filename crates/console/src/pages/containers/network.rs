//! What code in a container reaches outside: the policy that counts, whichever door or setting it came from.

use maud::{Markup, html};
use sandgate_core::network::{Action, NetworkPolicy};

/// Of its rules; a list may have thousands.
const MOST_SHOWN: usize = 100;

pub(super) fn show(policy: &NetworkPolicy) -> Markup {
    html! {
        section.panel aria-labelledby="network" {
            h2 id="network" { "Network" }
            @if policy.is_disabled() {
                p.hint { "Code in here reaches nothing outside." }
            } @else if policy.rules.is_empty() && policy.default == Action::Allow {
                p { "Code in here reaches everything outside, but for addresses that are denied to all." }
            } @else {
                (rules(policy))
            }
            @if policy.registries {
                p { "It also reaches the package registries, through the cache of this server." }
            }
            @for secret in &policy.secrets {
                // Neither the value nor what stands for it inside.
                p { "Requests to " code { (secret.domain.to_string()) } " may carry the secret " code { (secret.name) } "." }
            }
        }
    }
}

/// The first that fits decides.
fn rules(policy: &NetworkPolicy) -> Markup {
    let word = |action: Action| match action {
        Action::Allow => "allowed",
        Action::Deny => "denied",
    };
    html! {
        ol.rules {
            @for rule in policy.rules.iter().take(MOST_SHOWN) {
                li { code { (rule.target.to_string()) } " is " (word(rule.action)) }
            }
            @if policy.rules.len() > MOST_SHOWN {
                li { (policy.rules.len() - MOST_SHOWN) " more rules" }
            }
            li { "everything else is " (word(policy.default)) }
        }
    }
}

#[cfg(test)]
#[path = "network_tests.rs"]
mod tests;

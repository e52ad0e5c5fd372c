//! Code that asks for a host in a container without a network sees an error of its resolver and nothing of the
//! reason. The model is told, so that it does not look for a fault that is none.

use sandgate_core::Outcome;
use sandgate_core::network::NetworkPolicy;

/// How libraries put it that a name has no address, or an address no way to it.
const SIGNS: [&str; 7] = [
    "Temporary failure in name resolution",
    "Name or service not known",
    "No address associated with hostname",
    "Network is unreachable",
    "Failed to resolve",
    "getaddrinfo E",
    "ENETUNREACH",
];
const NOTE: &str = "this container has no network: nothing outside can be reached from it, unless the request allows \
                    hosts by 'network_policy' and the operator of this server allows them too";

/// None: the code failed for another reason, or not at all.
pub(crate) fn note(outcome: &Outcome, network: &NetworkPolicy) -> Option<&'static str> {
    let said = &outcome.error.as_ref()?.value;
    (network.is_disabled() && SIGNS.iter().any(|sign| said.contains(sign))).then_some(NOTE)
}

#[cfg(test)]
#[path = "no_network_tests.rs"]
mod tests;

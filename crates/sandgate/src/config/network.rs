//! What the configuration says of the network of sandboxes.

use std::net::{IpAddr, SocketAddr};

use sandgate_core::NetworkRules;
use sandgate_core::network::{Cidr, NetworkCeiling, NetworkLimits, NetworkPolicy, Ports, Target};
use sandgate_engine::{EgressConfig, Resolution};
use schemars::JsonSchema;
use serde::Deserialize;

use super::errors::Problem;
use super::key_path::KeyPath;

const DNS_PORT: u16 = 53;

/// What sandboxes may reach. Without it: nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct NetworkFile {
    /// What a container reaches whose maker asks for nothing: hosts (example.org, *.example.org, example.org:8443),
    /// ranges of addresses, registries for the package registries, or open alone.
    pub(crate) default: Vec<String>,
    /// The most that any request can ask for, in the same words; without it, what default says.
    pub(crate) ceiling: Option<Vec<String>>,
    /// What nobody reaches, whatever else is said.
    pub(crate) deny: Vec<String>,
    /// Ranges among those that are denied to all sandboxes (private networks and the like) that policies may open.
    pub(crate) allow_private: Vec<String>,
    /// Name servers to ask, as addresses with or without a port; without any, the host's own resolver.
    pub(crate) dns: Vec<String>,
    /// Of one sandbox.
    pub(crate) limits: NetworkLimitsFile,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct NetworkLimitsFile {
    /// Connections at once.
    #[schemars(range(min = 1))]
    pub(crate) connections: u32,
    /// Bytes in both directions together; without it as fast as it goes.
    #[schemars(range(min = 1))]
    pub(crate) bytes_per_second: Option<u64>,
    /// Bytes in both directions together, as long as the sandbox lives.
    #[schemars(range(min = 1))]
    pub(crate) bytes: Option<u64>,
}

impl Default for NetworkLimitsFile {
    fn default() -> Self {
        let NetworkLimits { connections, bytes_per_second, bytes } = NetworkLimits::default();
        Self { connections, bytes_per_second, bytes }
    }
}

/// The same, checked.
#[derive(Clone, Debug)]
pub(crate) struct NetworkSettings {
    pub(crate) rules: NetworkRules,
    pub(crate) egress: EgressConfig,
    pub(crate) limits: NetworkLimits,
    /// As it was written, to see whether it changed.
    pub(crate) file: NetworkFile,
}

impl NetworkFile {
    pub(super) fn check(&self) -> Result<NetworkSettings, Problem> {
        let path = KeyPath::of("network");
        let words = |name: &'static str, words: &[String]| {
            NetworkPolicy::from_words(words.iter().map(String::as_str))
                .map_err(|error| Problem::at(path.key(name), error.to_string()))
        };
        let usual = words("default", &self.default)?;
        let most = self.ceiling.as_ref().unwrap_or(&self.default);
        words("ceiling", most)?;
        let ceiling = NetworkCeiling::from_words(most.iter().map(String::as_str));
        let mut ceiling = ceiling.map_err(|error| Problem::at(path.key("ceiling"), error.to_string()))?;
        ceiling.deny = each(&path.key("deny"), &self.deny, |text| text.parse().map(on_all_ports))?;
        if let Err(error) = ceiling.check(&usual) {
            let message = format!("it asks for more than 'ceiling' allows: {error}");
            return Err(Problem::at(path.key("default"), message));
        }
        let allow_private = each(&path.key("allow_private"), &self.allow_private, str::parse::<Cidr>)?;
        let dns = each(&path.key("dns"), &self.dns, name_server)?;
        let resolution = if dns.is_empty() { Resolution::System } else { Resolution::Servers(dns) };
        let NetworkLimitsFile { connections, bytes_per_second, bytes } = self.limits;
        let zero = [
            ("connections", connections == 0),
            ("bytes_per_second", bytes_per_second == Some(0)),
            ("bytes", bytes == Some(0)),
        ];
        if let Some((name, _)) = zero.into_iter().find(|(_, is_zero)| *is_zero) {
            return Err(Problem::at(path.key("limits").key(name), "must be at least 1"));
        }
        Ok(NetworkSettings {
            rules: NetworkRules { usual, ceiling },
            egress: EgressConfig { resolution, allow_private, ..EgressConfig::default() },
            limits: NetworkLimits { connections, bytes_per_second, bytes },
            file: self.clone(),
        })
    }
}

/// Whoever denies a host does not mean the web alone.
fn on_all_ports(target: Target) -> Target {
    if target.ports() == Ports::Web { target.on_any_port() } else { target }
}

fn name_server(text: &str) -> Result<SocketAddr, String> {
    let address = text.parse::<IpAddr>().map(|address| SocketAddr::new(address, DNS_PORT));
    address.or_else(|_| text.parse()).map_err(|_| "an address with or without a port is wanted".to_owned())
}

fn each<T, E: ToString>(
    path: &KeyPath,
    texts: &[String],
    parse: impl Fn(&str) -> Result<T, E>,
) -> Result<Vec<T>, Problem> {
    let parsed = texts
        .iter()
        .enumerate()
        .map(|(place, text)| parse(text).map_err(|error| Problem::at(path.index(place), error.to_string())));
    parsed.collect()
}

#[cfg(test)]
#[path = "network_tests.rs"]
mod tests;

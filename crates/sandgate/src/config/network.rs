//! What the configuration says of the network of sandboxes.

use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use sandgate_core::NetworkRules;
use sandgate_core::network::{Cidr, NetworkCeiling, NetworkLimits, NetworkPolicy, Ports, Target};
use sandgate_engine::{EgressConfig, RegistriesConfig, Resolution, check_registry, discover};
use schemars::JsonSchema;
use serde::Deserialize;

use super::errors::Problem;
use super::key_path::KeyPath;
use crate::network_words;

const DNS_PORT: u16 = 53;
/// The cache of packages, in a home.
pub(crate) const PACKAGES: &str = "packages";

/// What sandboxes may reach. Without it: nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
// Backends have a network in the schema too.
#[schemars(rename = "SandboxNetworkFile")]
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
    /// Certificates (PEM) of authorities to trust beside the host's own, where the server itself speaks TLS: for secrets
    /// of domains and for packages.
    pub(crate) ca_file: Option<PathBuf>,
    /// Where packages come from that sandboxes may have by the word registries; what is not said is asked of pip, npm
    /// and go on this host.
    pub(crate) registries: RegistriesFile,
    /// Of one sandbox.
    pub(crate) limits: NetworkLimitsFile,
    /// Connections of all sandboxes together, at once.
    #[schemars(range(min = 1))]
    pub(crate) connections: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct RegistriesFile {
    /// An index of Python packages, as in PIP_INDEX_URL.
    pub(crate) pip: Option<String>,
    pub(crate) npm: Option<String>,
    /// A proxy of Go modules, as in GOPROXY.
    pub(crate) go: Option<String>,
    /// The most that the cache of packages in SANDGATE_HOME may hold.
    #[schemars(range(min = 1))]
    pub(crate) cache_bytes: u64,
}

impl Default for RegistriesFile {
    fn default() -> Self {
        Self { pip: None, npm: None, go: None, cache_bytes: 10 << 30 }
    }
}

impl RegistriesFile {
    /// As the egress reads them, which a server does only once it starts.
    fn check(&self, path: &KeyPath) -> Result<(), Problem> {
        if self.cache_bytes == 0 {
            return Err(Problem::at(path.key("cache_bytes"), "must be at least 1"));
        }
        for (name, url) in [("pip", &self.pip), ("npm", &self.npm), ("go", &self.go)] {
            if let Some(url) = url {
                check_registry(url).map_err(|message| Problem::at(path.key(name), message))?;
            }
        }
        Ok(())
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct NetworkLimitsFile {
    /// Connections at once.
    #[schemars(range(min = 1))]
    pub(crate) connections: u32,
    /// New connections; twice as many may come at once after a pause.
    #[schemars(range(min = 1))]
    pub(crate) connections_per_second: u32,
    /// Bytes in both directions together; without it as fast as it goes.
    #[schemars(range(min = 1))]
    pub(crate) bytes_per_second: Option<u64>,
    /// Bytes in both directions together, as long as the sandbox lives.
    #[schemars(range(min = 1))]
    pub(crate) bytes: Option<u64>,
}

impl Default for NetworkLimitsFile {
    fn default() -> Self {
        let NetworkLimits { connections, connections_per_second, bytes_per_second, bytes } =
            NetworkLimits::default();
        Self { connections, connections_per_second, bytes_per_second, bytes }
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
            each(&path.key(name), words, network_words::check)?;
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
        let NetworkLimitsFile { connections, connections_per_second, bytes_per_second, bytes } = self.limits;
        let zero = [
            ("connections", connections == 0),
            ("connections_per_second", connections_per_second == 0),
            ("bytes_per_second", bytes_per_second == Some(0)),
            ("bytes", bytes == Some(0)),
        ];
        if let Some((name, _)) = zero.into_iter().find(|(_, is_zero)| *is_zero) {
            return Err(Problem::at(path.key("limits").key(name), "must be at least 1"));
        }
        if self.connections == Some(0) {
            return Err(Problem::at(path.key("connections"), "must be at least 1"));
        }
        self.registries.check(&path.key("registries"))?;
        let all_connections = self.connections.unwrap_or(EgressConfig::default().connections);
        Ok(NetworkSettings {
            rules: NetworkRules { usual, ceiling },
            egress: EgressConfig {
                resolution,
                allow_private,
                trust_pem: self.trusted(&path)?,
                registries: None,
                connections: all_connections,
            },
            limits: NetworkLimits { connections, connections_per_second, bytes_per_second, bytes },
            file: self.clone(),
        })
    }
}

impl NetworkFile {
    fn trusted(&self, path: &KeyPath) -> Result<Option<String>, Problem> {
        let Some(file) = &self.ca_file else { return Ok(None) };
        let wrong = |error: std::io::Error| {
            Problem::at(path.key("ca_file"), format!("{} cannot be read: {error}", file.display()))
        };
        fs::read_to_string(file).map(Some).map_err(wrong)
    }
}

impl NetworkSettings {
    /// What was understood, in lines for people; none where nothing was said.
    pub(crate) fn described(&self) -> Vec<String> {
        let NetworkFile { default, ceiling, allow_private, .. } = &self.file;
        if self.file == NetworkFile::default() {
            return Vec::new();
        }
        let most = words(ceiling.as_ref().unwrap_or(default));
        let mut lines = vec![format!(
            "sandboxes reach {} unless something else is asked for, and {most} at most",
            words(default)
        )];
        if !allow_private.is_empty() {
            lines.push(format!("private ranges that they may be allowed: {}", allow_private.join(", ")));
        }
        lines
    }

    /// With the registries, if anybody may have packages. Asks the host's tools, which takes a second or so.
    pub(crate) fn egress_over(&self, home: &Path) -> EgressConfig {
        let RegistriesFile { pip, npm, go, cache_bytes } = self.file.registries.clone();
        let cache = home.join(PACKAGES);
        let given = RegistriesConfig { pip, npm, go, cache, cache_bytes };
        let registries = self.rules.ceiling.registries.then(|| discover(given));
        EgressConfig { registries, ..self.egress.clone() }
    }
}

fn words(words: &[String]) -> String {
    match words {
        [] => "nothing".to_owned(),
        [word] if word == "disabled" => "nothing".to_owned(),
        [word] if word == "open" => "the open network".to_owned(),
        words => words.join(", "),
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

//! What a rule is about: names or addresses, and ports of them, as one text.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::name::shortened;
use super::{Cidr, HostPattern, Ports};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidTarget {
    #[error("'{name}' is not the name of a host: {why}")]
    Name { name: String, why: &'static str },
    #[error("'{word}' is not a host here; did you mean '{meant}'?")]
    Word { word: String, meant: &'static str },
    #[error("'{range}' is not a range of addresses: {why}")]
    Cidr { range: String, why: &'static str },
    #[error("'{0}' is not a port, a range of ports such as 8000-8010, or '*'")]
    Ports(String),
    #[error("'*' alone is no target; a network that is open to everything must be asked for by its own word")]
    Everything,
    #[error("'{0}' is too wide; at least two parts must stand behind '*.', as in '*.example.org'")]
    WideWildcard(String),
    #[error("a secret's name '{0}' must be the name of an environment variable")]
    SecretName(String),
    #[error("a secret cannot have the name '{name}', because {why}; give it another name")]
    ReservedSecretName { name: String, why: &'static str },
    #[error("the secret '{name}' is given twice for the domain '{domain}'")]
    SecretTwice { name: String, domain: String },
    #[error("the secret '{0}' {1}")]
    SecretValue(String, &'static str),
    #[error("there are {given} secrets of domains; the limit is {limit}")]
    TooManySecrets { given: usize, limit: usize },
    #[error("the secrets of domains take {bytes} bytes together; the limit is {limit}")]
    LongSecrets { bytes: usize, limit: usize },
    #[error("there are {given} rules; the limit is {limit}")]
    TooManyRules { given: usize, limit: usize },
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Host {
    Name(HostPattern),
    Address(Cidr),
}

/// `example.org`, `*.example.org`, `192.0.2.0/24`, `2001:db8::/32`, each with an optional `:port`, `:first-last` or
/// `:*` (IPv6 then in brackets). Without a port, names mean the ports of the web and addresses every port.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Target {
    pub(super) host: Host,
    pub(super) ports: Ports,
}

impl Target {
    /// The same hosts, on every port.
    #[must_use]
    pub fn on_any_port(self) -> Self {
        Self { ports: Ports::Any, ..self }
    }

    #[must_use]
    pub fn ports(&self) -> Ports {
        self.ports
    }

    /// The names it is about, when it is about names.
    #[must_use]
    pub fn names(&self) -> Option<&HostPattern> {
        match &self.host {
            Host::Name(pattern) => Some(pattern),
            Host::Address(_) => None,
        }
    }

    /// The addresses it is about, when it is about addresses.
    #[must_use]
    pub fn addresses(&self) -> Option<Cidr> {
        match self.host {
            Host::Name(_) => None,
            Host::Address(range) => Some(range),
        }
    }

    /// Whether it is every address of a family, on every port.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.ports == Ports::Any && self.addresses().is_some_and(|range| range.is_everything())
    }

    /// The same ports of the other family, where it is every address of one.
    pub(super) fn other_family(&self) -> Option<Self> {
        let range = self.addresses().filter(Cidr::is_everything)?;
        Some(Self { host: Host::Address(range.other_family()), ports: self.ports })
    }

    /// Whether everything that `other` stands for is among what this one stands for.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        let hosts = match (&self.host, &other.host) {
            (Host::Name(own), Host::Name(name)) => own.covers(name),
            (Host::Address(own), Host::Address(range)) => own.covers(range),
            (Host::Name(_), Host::Address(_)) | (Host::Address(_), Host::Name(_)) => false,
        };
        hosts && self.ports.covers(other.ports)
    }
}

impl FromStr for Target {
    type Err = InvalidTarget;

    fn from_str(text: &str) -> Result<Self, InvalidTarget> {
        let (host, ports) = split_ports(text)?;
        let numeric = host.contains(['/', ':']) || host.parse::<std::net::IpAddr>().is_ok();
        let host = if numeric { Host::Address(host.parse()?) } else { Host::Name(host.parse()?) };
        let ports = match (ports, &host) {
            (Some(ports), _) => Ports::parse(ports)?,
            (None, Host::Name(_)) => Ports::Web,
            (None, Host::Address(_)) => Ports::Any,
        };
        Ok(Self { host, ports })
    }
}

fn split_ports(text: &str) -> Result<(&str, Option<&str>), InvalidTarget> {
    if text.contains("://") {
        return Err(InvalidTarget::Name { name: shortened(text), why: "it is a URL; give the host alone" });
    }
    if let Some(rest) = text.strip_prefix('[') {
        let wrong =
            || InvalidTarget::Cidr { range: shortened(text), why: "']' is missing, or not at its place" };
        let (host, behind) = rest.split_once(']').ok_or_else(wrong)?;
        return match behind.strip_prefix(':') {
            _ if behind.is_empty() => Ok((host, None)),
            Some(ports) => Ok((host, Some(ports))),
            None => Err(wrong()),
        };
    }
    // More than one colon: IPv6 without a port.
    match text.split_once(':') {
        Some((host, ports)) if !ports.contains(':') => Ok((host, Some(ports))),
        _ => Ok((text, None)),
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.host, self.ports) {
            (Host::Name(pattern), Ports::Web) => write!(f, "{pattern}"),
            (Host::Name(pattern), ports) => write!(f, "{pattern}:{ports}"),
            (Host::Address(range), Ports::Any) => write!(f, "{range}"),
            // A name's own word for two ports has no text; addresses are never given it.
            (Host::Address(range), ports) => write!(f, "[{range}]:{ports}"),
        }
    }
}

impl TryFrom<String> for Target {
    type Error = InvalidTarget;
    fn try_from(text: String) -> Result<Self, InvalidTarget> {
        text.parse()
    }
}

impl From<Target> for String {
    fn from(target: Target) -> Self {
        target.to_string()
    }
}

#[cfg(test)]
#[path = "target_tests.rs"]
mod tests;

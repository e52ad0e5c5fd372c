//! What the operator says about the way out, for all sandboxes of a server.

use std::net::SocketAddr;

use sandgate_core::network::Cidr;

use crate::RegistriesConfig;

/// Who is asked for the addresses of a name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Resolution {
    /// The host's own resolver, with all it knows.
    #[default]
    System,
    /// These name servers and nobody else, in turn.
    Servers(Vec<SocketAddr>),
}

#[derive(Clone, Debug)]
pub struct EgressConfig {
    pub resolution: Resolution,
    /// Ranges that are denied to all sandboxes by default and that the operator opens.
    pub allow_private: Vec<Cidr>,
    /// Certificates (PEM) that are trusted beside the host's own, by servers of secrets and of packages.
    pub trust_pem: Option<String>,
    /// None: the policy `registries` opens nothing.
    pub registries: Option<RegistriesConfig>,
    /// Connections of all sandboxes together, at once; the next is refused.
    pub connections: u32,
}

impl Default for EgressConfig {
    fn default() -> Self {
        Self {
            resolution: Resolution::default(),
            allow_private: Vec::new(),
            trust_pem: None,
            registries: None,
            connections: 4096,
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum EgressError {
    #[error("a socket inside the sandbox cannot be served: {0}")]
    Socket(#[source] std::io::Error),
    #[error("an authority for the sandbox cannot be made: {0}")]
    Authority(String),
    #[error("connections by TLS cannot be prepared: {0}")]
    Tls(String),
    #[error("the package registries cannot be used: {0}")]
    Registries(String),
}

//! One sandbox at the egress: its sockets, and the tasks that serve them.

use std::fmt;
use std::net::{TcpListener, UdpSocket};
use std::sync::Arc;

use tokio_util::sync::DropGuard;

use crate::EgressError;
use crate::sandbox::SandboxEgress;
use crate::tls::Authority;

/// Sockets opened inside the sandbox's network namespace. Those that are missing are not served.
#[derive(Debug, Default)]
pub struct InsideSockets {
    /// `127.0.0.1:3128`, for `HTTP_PROXY` and `HTTPS_PROXY`; also the front of the package registries.
    pub http_proxy: Option<TcpListener>,
    /// `127.0.0.1:1080`, for `ALL_PROXY=socks5h://…`.
    pub socks: Option<TcpListener>,
    /// `127.0.0.1:53`.
    pub dns_udp: Option<UdpSocket>,
    pub dns_tcp: Option<TcpListener>,
    /// `0.0.0.0:80`, `0.0.0.0:443` and what else the policy names: the address a connection was made to (its local
    /// one, by the AnyIP route) says where it wants to go.
    pub transparent: Vec<TcpListener>,
}

/// Dropping it closes every socket and connection of the sandbox.
pub struct Attached {
    pub(crate) _ends: DropGuard,
    pub(crate) sandbox: Arc<SandboxEgress>,
}

impl Attached {
    /// Serve more ports of the same sandbox, which a later policy names. Must be called within a tokio runtime.
    pub fn listen(&self, transparent: Vec<TcpListener>) -> Result<(), EgressError> {
        self.sandbox.serve_all(InsideSockets { transparent, ..InsideSockets::default() })
    }

    /// The certificate (PEM) that programs inside must trust for the domains that have secrets; made when it is first
    /// asked for. See [`crate::Egress::trust_bundle`].
    pub fn authority(&self) -> Result<&str, EgressError> {
        self.sandbox.tls.authority().map(Authority::pem)
    }
}

impl fmt::Debug for Attached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attached").finish_non_exhaustive()
    }
}

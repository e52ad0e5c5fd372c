//! Who is told about connections: counters and the ledger, neither of which this crate knows.

use std::net::IpAddr;
use std::time::Duration;

/// Told once about every connection, when it has ended or was refused. Must not block.
pub trait Observer: Send + Sync {
    fn seen(&self, seen: Seen);
}

/// One connection. Never holds what was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    pub way: Way,
    /// The name it asked for; None: an address was given. Not always a valid one, when refused.
    pub name: Option<String>,
    /// Where it was connected to, or wanted to.
    pub address: Option<IpAddr>,
    pub port: u16,
    /// Bytes that left the sandbox.
    pub sent: u64,
    /// Bytes that came into the sandbox.
    pub received: u64,
    pub took: Duration,
    /// How many it stands for: of what is refused and comes too fast or too often, not each is told.
    pub times: u64,
    pub verdict: SeenVerdict,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SeenVerdict {
    Allowed,
    /// It was allowed, but there was no connection, or it was cut for this reason.
    Failed(String),
    /// With the words that the program inside was told.
    Denied(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Way {
    /// CONNECT to the HTTP proxy.
    Connect,
    /// A plain request to the HTTP proxy.
    Http,
    Socks,
    /// A connection to an address that the name server gave out, or to a real one.
    Transparent,
    /// A question to the name server; only refused ones are told, each name once, and of very many one a
    /// second.
    Dns,
    /// A package from the cache of registries.
    Registry,
}

impl Way {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::Http => "http",
            Self::Socks => "socks",
            Self::Transparent => "transparent",
            Self::Dns => "dns",
            Self::Registry => "registry",
        }
    }
}

/// Nobody is told.
#[derive(Clone, Copy, Debug)]
pub struct Unobserved;

impl Observer for Unobserved {
    fn seen(&self, _: Seen) {}
}

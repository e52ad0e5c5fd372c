//! Why a connection is not made, in words that a program or a model can act on.

use std::fmt;
use std::net::IpAddr;

use sandgate_core::human_bytes;
use sandgate_core::network::{DeniedAddress, Destination, HostName};

use crate::live::Refusal;

/// Where a connection wants to go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Host {
    Name(HostName),
    Address(IpAddr),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) host: Host,
    pub(crate) port: u16,
}

impl Wanted {
    pub(crate) fn name(&self) -> Option<&HostName> {
        match &self.host {
            Host::Name(name) => Some(name),
            Host::Address(_) => None,
        }
    }

    pub(crate) fn address(&self) -> Option<IpAddr> {
        match self.host {
            Host::Name(_) => None,
            Host::Address(address) => Some(address),
        }
    }

    /// What is known of it before anything was looked up.
    pub(crate) fn destination(&self) -> Destination<'_> {
        Destination { name: self.name(), address: self.address(), port: self.port }
    }

    pub(crate) fn denied(&self, why: Why) -> NoConnection {
        NoConnection::Denied(Denied { to: self.to_string(), host: self.host.to_string(), why })
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(f, "{name}"),
            Self::Address(IpAddr::V4(address)) => write!(f, "{address}"),
            Self::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoConnection {
    Denied(Denied),
    /// Allowed, but it could not be had.
    Failed {
        to: String,
        why: String,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Denied {
    pub(crate) to: String,
    pub(crate) host: String,
    pub(crate) why: Why,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    Rules(Refusal),
    Address(DeniedAddress),
    /// An address that the rules do not allow, and that none could.
    NoRuleCould(DeniedAddress),
    /// It asked for one host by name and for another inside.
    Disagrees {
        said: String,
    },
    NotAHost(String),
    /// On the port of HTTP, something that names no host.
    NotHttp,
    /// A request of a protocol that is not read here.
    NotRead,
    /// It began as something else, or in pieces.
    LateRequest,
    TooMany {
        limit: u32,
    },
    /// Connections in a short time.
    TooFast {
        limit: u32,
    },
    /// Connections of all sandboxes together.
    Crowded {
        limit: u32,
    },
    Spent {
        limit: u64,
    },
    /// A secret would have gone over the wire in the clear.
    SecretInTheClear {
        name: String,
    },
    /// Its value went with an earlier run of the server.
    SecretLost {
        name: String,
    },
}

impl From<Denied> for NoConnection {
    fn from(denied: Denied) -> Self {
        Self::Denied(denied)
    }
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { to, host, why } = self;
        write!(f, "Denied by the network policy of this sandbox: ")?;
        match why {
            Why::Rules(Refusal::NotAllowed) => write!(
                f,
                "no rule allows {to}. To allow it, '{host}' must be among the allowed domains or addresses (with its port, if that is not 80 or 443) of the network policy that the sandbox is made with."
            ),
            Why::Rules(Refusal::ByRule { rule, alone: true }) => {
                write!(f, "its rule '{rule}' denies {to}. To allow it, that rule must be taken out.")
            }
            Why::Rules(Refusal::ByRule { rule, alone: false }) => write!(
                f,
                "its rule '{rule}' denies {to}. To allow it, '{host}' must be among the allowed domains or addresses (with its port, if that is not 80 or 443) of the network policy, before that rule if its rules have an order."
            ),
            Why::Rules(Refusal::ByCeiling) => write!(
                f,
                "{to} is outside of what the operator of this server, or of this key, allows. Only the operator can allow it."
            ),
            Why::Address(denied) => write!(f, "{to} leads nowhere allowed: {denied}.{}", opened(denied)),
            Why::NoRuleCould(denied) => {
                write!(f, "no rule allows {to}, and none could: {denied}.{}", opened(denied))
            }
            Why::Disagrees { said } => write!(
                f,
                "the connection was opened to {to}, but the request inside names '{said}'. Both must be the same host."
            ),
            Why::NotAHost(why) => write!(f, "{why}."),
            Why::NotHttp => write!(
                f,
                "{to} takes requests of HTTP/1 and TLS only, as nothing else says which host it wants."
            ),
            Why::NotRead => write!(
                f,
                "the connection to {to} speaks RTSP or ICE, whose requests some servers answer like those of HTTP and nobody here reads, so that they could ask for any host. Use HTTP or TLS."
            ),
            Why::LateRequest => write!(
                f,
                "in the connection to {to} something else came before a request of HTTP or a greeting of TLS, so that nobody could check which host it names. Send it first, and without a pause."
            ),
            Why::TooMany { limit } => {
                write!(f, "{limit} connections are open, which is the limit. Close some before opening {to}.")
            }
            Why::TooFast { limit } => write!(
                f,
                "this sandbox opens more than {limit} connections in a second, which is the limit. Wait a moment before opening {to}, or use connections for more than one request."
            ),
            Why::Crowded { limit } => write!(
                f,
                "{limit} connections of all sandboxes of this server are open, which is its limit. Try {to} again later."
            ),
            Why::Spent { limit } => {
                write!(f, "the sandbox has used up its {} of network traffic.", human_bytes(*limit))
            }
            Why::SecretInTheClear { name } => write!(
                f,
                "the secret ${name} is put into requests by https only, and the request to {to} came by http. Use https."
            ),
            Why::SecretLost { name } => write!(
                f,
                "the value of ${name} is not known any more, because the server was started again. The sandbox must be made anew with its secrets."
            ),
        }
    }
}

/// What could be done about it, where something sensible can.
fn opened(denied: &DeniedAddress) -> &'static str {
    match denied.is_private() {
        true => {
            " Only the operator of this server can open it, with 'allow_private' in the server's configuration."
        }
        false => "",
    }
}

impl fmt::Display for NoConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Denied(denied) => denied.fmt(f),
            Self::Failed { to, why } => {
                write!(
                    f,
                    "{to} is allowed by the network policy of this sandbox but cannot be reached: {why}."
                )
            }
        }
    }
}

#[cfg(test)]
#[path = "denied_tests.rs"]
mod tests;

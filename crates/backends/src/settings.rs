//! What the operator says about an account at a provider, checked and with its secrets filled in.

use std::collections::BTreeMap;
use std::time::Duration;

use sandgate_core::Secret;
use sandgate_outbound::{Names, Trust};

/// How long the gate waits. Runs of code have their own time.
#[derive(Clone, Debug, PartialEq)]
pub struct Deadlines {
    pub connect: Duration,
    /// For an answer to anything but a new sandbox; in streams, for the next bytes of a file.
    pub answer: Duration,
    /// From the request for a sandbox until it can run code.
    pub create: Duration,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            answer: Duration::from_secs(30),
            create: Duration::from_secs(120),
        }
    }
}

/// Whom to believe on the way, and where names lead.
#[derive(Clone, Debug, Default)]
pub struct Reach {
    /// On top of what the system trusts.
    pub trust: Trust,
    pub names: Names,
}

/// E2B's cloud, a server of one's own, or anything that speaks as it does.
#[derive(Clone, Debug)]
pub struct E2bSettings {
    /// None: `https://api.{domain}`.
    pub api_url: Option<String>,
    /// As in `E2B_DOMAIN`. None: what the address of the API or the server says; without an address, E2B's cloud.
    pub domain: Option<String>,
    /// One address for every sandbox and port, told apart by headers; None: by name.
    pub sandbox_url: Option<String>,
    pub api_key: Secret,
    pub template: String,
    pub deadlines: Deadlines,
    pub reach: Reach,
}

#[derive(Clone, Debug)]
pub struct OpenSandboxSettings {
    /// Of the lifecycle API, with or without `/v1`.
    pub url: String,
    pub api_key: Option<Secret>,
    pub image: String,
    pub entrypoint: Vec<String>,
    /// Through the server, rather than straight to the sandbox.
    pub use_server_proxy: bool,
    /// Sent as they are (`extensions` of a request for a sandbox).
    pub extensions: BTreeMap<String, String>,
    pub deadlines: Deadlines,
    pub reach: Reach,
}

#[derive(Clone, Debug)]
pub struct DaytonaSettings {
    /// `https://app.daytona.io/api`, or another.
    pub url: String,
    pub api_key: Secret,
    /// Only where the key is a JWT.
    pub organization: Option<String>,
    pub target: Option<String>,
    /// None: the account's default; only one of `snapshot` and `image`.
    pub snapshot: Option<String>,
    pub image: Option<String>,
    pub deadlines: Deadlines,
    pub reach: Reach,
}

//! Backends as the file has them.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::de::value::SeqAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};

use super::key_path::KeyPath;
use super::secrets::SecretText;

/// Sandboxes that others run. The gate sends code and files there.
#[derive(Clone, Debug, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BackendFile {
    /// Who it is.
    pub(crate) r#type: BackendType,
    /// The address of its API. For e2b `https://api.DOMAIN` unless it is said, for daytona its cloud.
    #[serde(default)]
    pub(crate) url: Option<String>,
    /// env:NAME, file:PATH, os.environ/NAME or the key itself.
    #[serde(default)]
    pub(crate) key: Option<SecretText>,
    /// For e2b: as in E2B_DOMAIN; that of url unless it is said, and e2b.app where neither is.
    #[serde(default)]
    pub(crate) domain: Option<String>,
    /// For e2b: one address for all sandboxes, as in E2B_SANDBOX_URL.
    #[serde(default)]
    pub(crate) sandbox_url: Option<String>,
    /// For e2b: the template; code-interpreter-v1 unless it is said.
    #[serde(default)]
    pub(crate) template: Option<String>,
    /// For opensandbox and daytona: the image.
    #[serde(default)]
    pub(crate) image: Option<String>,
    /// For opensandbox: what the image starts with; without it what its own image needs, and for others tail -f /dev/null.
    #[serde(default)]
    pub(crate) entrypoint: Vec<String>,
    /// For opensandbox: reach sandboxes through its server, rather than straight.
    #[serde(default)]
    pub(crate) server_proxy: bool,
    /// For opensandbox: sent as extensions with every request for a sandbox.
    #[serde(default)]
    pub(crate) extensions: BTreeMap<String, String>,
    /// For daytona: the snapshot, in place of an image.
    #[serde(default)]
    pub(crate) snapshot: Option<String>,
    /// For daytona: the region.
    #[serde(default)]
    pub(crate) target: Option<String>,
    /// For daytona: where the key is a JWT, whose it is.
    #[serde(default)]
    pub(crate) organization: Option<String>,
    /// What its sandboxes may reach: disabled (or none), open (or all), or a list of names and addresses.
    #[serde(default)]
    #[schemars(schema_with = "super::schema::backend_network")]
    pub(crate) network: NetworkFile,
    /// How long a sandbox lives there when the gate no longer asks for more.
    #[serde(default = "life")]
    #[schemars(range(min = 60))]
    pub(crate) life_seconds: u64,
    /// Variables of every sandbox; values may be secrets, as `key`, which code there can read.
    #[serde(default)]
    pub(crate) env: BTreeMap<String, SecretText>,
    /// Carried by every sandbox, beside what names this gate.
    #[serde(default)]
    pub(crate) metadata: BTreeMap<String, String>,
    /// Name lookup, TCP and TLS together.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub(crate) connect_timeout_seconds: Option<u64>,
    /// For an answer to anything but a new sandbox and code.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub(crate) timeout_seconds: Option<u64>,
    /// For a new sandbox that can run code.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub(crate) create_timeout_seconds: Option<u64>,
    /// So many failures in a row, and it is not asked for a while.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub(crate) failures: Option<u32>,
    /// That while.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub(crate) rest_seconds: Option<u64>,
    /// Backends that are asked for a new sandbox when this one is not available, in this order. Without it nobody is.
    #[serde(default)]
    pub(crate) fallback: Vec<String>,
    /// PEM file of an authority to trust beside the system's.
    #[serde(default)]
    pub(crate) ca_file: Option<PathBuf>,
    /// Where it stands in the file, when that is another kind of file.
    #[serde(skip)]
    #[schemars(skip)]
    pub(crate) origin: Option<KeyPath>,
}

impl BackendFile {
    pub(crate) fn new(r#type: BackendType) -> Self {
        Self {
            r#type,
            url: None,
            key: None,
            domain: None,
            sandbox_url: None,
            template: None,
            image: None,
            entrypoint: Vec::new(),
            server_proxy: false,
            extensions: BTreeMap::new(),
            snapshot: None,
            target: None,
            organization: None,
            network: NetworkFile::default(),
            life_seconds: life(),
            env: BTreeMap::new(),
            metadata: BTreeMap::new(),
            connect_timeout_seconds: None,
            timeout_seconds: None,
            create_timeout_seconds: None,
            failures: None,
            rest_seconds: None,
            fallback: Vec::new(),
            ca_file: None,
            origin: None,
        }
    }
}

fn life() -> u64 {
    300
}

#[derive(Clone, Copy, Debug, serde::Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum BackendType {
    /// E2B's cloud, or what speaks as it does.
    E2b,
    /// A server of OpenSandbox.
    Opensandbox,
    /// Daytona's cloud.
    Daytona,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum NetworkFile {
    #[default]
    Disabled,
    Open,
    /// Names, *.names, addresses and blocks of them.
    Only(Vec<String>),
}

/// By hand, as what is derived for a word or a list says of a mistake only that it fits neither.
impl<'de> Deserialize<'de> for NetworkFile {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(NetworkVisitor)
    }
}

struct NetworkVisitor;

impl<'de> Visitor<'de> for NetworkVisitor {
    type Value = NetworkFile;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("'disabled', 'open' or a list of hosts")
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<NetworkFile, E> {
        match word {
            "disabled" | "none" => Ok(NetworkFile::Disabled),
            "open" | "all" => Ok(NetworkFile::Open),
            other => {
                let what = "'disabled', 'open' or a list of hosts is wanted";
                Err(E::custom(format!("'{other}' is not possible here; {what}")))
            }
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<NetworkFile, A::Error> {
        Deserialize::deserialize(SeqAccessDeserializer::new(list)).map(NetworkFile::Only)
    }
}

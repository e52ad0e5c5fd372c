//! The configuration file as written. The comments here are also those of its JSON Schema.

use std::collections::BTreeMap;
use std::path::PathBuf;

use sandgate_core::{ContainersConfig, Limits};
use sandgate_doors::e2b::E2bSettings;
use sandgate_doors::openai::DoorLimits;
use sandgate_doors::opensandbox::OpenSandboxSettings;
use sandgate_gate::GateConfig;
use schemars::JsonSchema;
use serde::Deserialize;

use super::approvals_file::ApprovalsFile;
use super::backends_file::BackendFile;
use super::key_path::KeyPath;
use super::ledger_file::LedgerFile;
use super::network::NetworkFile;
use super::secrets::SecretText;
use super::telemetry::{LogFormat, TelemetryFile};

pub(crate) const LISTEN: &str = "127.0.0.1:4000";
/// In seconds. Less than the ten after which Docker loses its patience.
const STOP_GRACE: u64 = 6;
/// In seconds.
pub(crate) const DAY: u64 = 24 * 60 * 60;

/// The configuration of `sandgate serve`. Every key is optional.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(title = "sandgate.yaml")]
pub(crate) struct ConfigFile {
    /// Address and port.
    pub(crate) listen: String,
    /// Seconds after which the processes of an unused container are given back; its files stay.
    #[schemars(range(min = 1))]
    pub(crate) idle_seconds: u64,
    /// Sandboxes running at once.
    #[schemars(range(min = 1))]
    pub(crate) max_live: usize,
    /// Sandboxes kept ready.
    pub(crate) pool: usize,
    /// Days that the files of an unused container are kept.
    #[schemars(range(min = 1))]
    pub(crate) keep_days: u64,
    /// What one sandbox may use.
    #[schemars(schema_with = "super::schema::limits")]
    pub(crate) limits: Limits,
    /// What is logged, as in `RUST_LOG`, which goes before it: error, warn, info, debug.
    pub(crate) log: Option<String>,
    /// The form of its lines.
    pub(crate) log_format: LogFormat,
    /// Seconds that requests under way have to end when the server is told to stop.
    pub(crate) stop_grace_seconds: u64,
    /// Metrics and traces.
    pub(crate) telemetry: TelemetryFile,
    /// The key of the operator, who may do everything.
    pub(crate) master_key: Option<SecretText>,
    /// The one upstream, when there is only one.
    pub(crate) upstream: Option<UpstreamFile>,
    /// Several upstreams, by name.
    pub(crate) upstreams: BTreeMap<String, UpstreamFile>,
    /// Which upstream has which model. Without it a lone upstream takes all names.
    pub(crate) models: Vec<ModelFile>,
    /// Where code runs for which nobody names a backend: embedded, which is this program, or one of backends.
    pub(crate) backend: Option<String>,
    /// Sandboxes that others run, by name.
    pub(crate) backends: BTreeMap<String, BackendFile>,
    /// Whether the engine of this program is started. Without it all code runs elsewhere, and this machine needs
    /// nothing for sandboxes.
    pub(crate) embedded: bool,
    /// The gate's own limits.
    pub(crate) gate: GateFile,
    /// What is asked before code runs.
    pub(crate) approvals: ApprovalsFile,
    /// What is written down.
    pub(crate) ledger: LedgerFile,
    /// What sandboxes may reach. Without it: nothing.
    pub(crate) network: NetworkFile,
    /// The door for E2B's SDKs.
    pub(crate) e2b: E2bFile,
    /// The door for OpenSandbox's SDKs.
    pub(crate) opensandbox: OpenSandboxFile,
}

/// The door for OpenSandbox's SDKs, which is at the paths /v1/sandboxes and /sandboxes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct OpenSandboxFile {
    /// Names of images, beside opensandbox/code-interpreter, python, debian and ubuntu; all mean the runtime of this
    /// server, and none is pulled.
    pub(crate) images: Vec<String>,
    /// The longest that a sandbox may be asked to last.
    #[schemars(range(min = 60))]
    pub(crate) max_timeout_seconds: u64,
    /// The most that a sandbox may be asked to have of the processors; without it all that this machine has. The most
    /// memory is gate.max_memory_bytes.
    #[schemars(range(min = 1))]
    pub(crate) max_cpu_millis: Option<u32>,
}

impl Default for OpenSandboxFile {
    fn default() -> Self {
        let max_timeout_seconds = OpenSandboxSettings::default().max_timeout.as_secs();
        Self { images: Vec::new(), max_timeout_seconds, max_cpu_millis: None }
    }
}

/// The door for E2B's SDKs, which is at the path /e2b.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct E2bFile {
    /// As in E2B_DOMAIN, perhaps with a port: sandboxes are at PORT-ID.DOMAIN by https, and api.DOMAIN makes them.
    pub(crate) domain: Option<String>,
    /// Where the domain's TLS is spoken; else the port of the domain at the address of the server.
    pub(crate) listen: Option<String>,
    /// A certificate for *.DOMAIN.
    pub(crate) tls: Option<TlsFile>,
    /// In place of tls, for development: a certificate of an authority that is made in SANDGATE_HOME.
    pub(crate) self_signed: bool,
    /// Names of templates, beside those that the SDKs ask for by themselves; all mean the runtime of this server.
    pub(crate) templates: Vec<String>,
    /// The longest that a sandbox may be asked to last.
    #[schemars(range(min = 1))]
    pub(crate) max_timeout_seconds: u64,
    /// Ports inside a sandbox, but for files and commands, can be reached without its token by whoever knows its
    /// id, unless it was made with allowPublicTraffic false.
    pub(crate) open_ports: bool,
}

/// PEM files.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TlsFile {
    /// The certificate, with those between it and its authority.
    pub(crate) cert: PathBuf,
    /// Its private key.
    pub(crate) key: PathBuf,
}

impl Default for E2bFile {
    fn default() -> Self {
        let E2bSettings { domain, templates, max_timeout, open_ports } = E2bSettings::default();
        Self {
            domain,
            listen: None,
            tls: None,
            self_signed: false,
            templates: templates.into_iter().collect(),
            max_timeout_seconds: max_timeout.as_secs(),
            open_ports,
        }
    }
}

/// A server with models.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct UpstreamFile {
    /// As in OPENAI_BASE_URL, with its /v1.
    pub(crate) url: Option<String>,
    /// What it speaks.
    pub(crate) api: Api,
    /// env:NAME, file:PATH, os.environ/NAME or the key itself. Without it each client's own is passed on.
    pub(crate) key: Option<SecretText>,
    /// The longest silence before and within an answer.
    #[schemars(range(min = 1))]
    pub(crate) timeout_seconds: Option<u64>,
    /// Name lookup, TCP and TLS together.
    #[schemars(range(min = 1))]
    pub(crate) connect_timeout_seconds: Option<u64>,
    /// Sent with every request, over what the client sent; values may be secrets, as `key`.
    pub(crate) headers: BTreeMap<String, SecretText>,
    /// For api chat: what the server calls the limit of tokens.
    pub(crate) max_tokens_field: MaxTokensField,
    /// Where it stands in the file, when that is another kind of file.
    #[serde(skip)]
    #[schemars(skip)]
    pub(crate) origin: Option<KeyPath>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Api {
    /// OpenAI's Responses API.
    #[default]
    Responses,
    /// Chat Completions only.
    Chat,
    /// The built-in stand-in, which runs the fenced code of the last message.
    Loopback,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum MaxTokensField {
    #[default]
    MaxCompletionTokens,
    MaxTokens,
}

/// A model that clients can ask for. Listed several times, the load is spread.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ModelFile {
    /// What clients call it. A star at the end takes every name that begins so; `*` takes all.
    pub(crate) name: String,
    /// Which upstream has it; may be left out when there is only one.
    #[serde(default)]
    pub(crate) upstream: Option<String>,
    /// What the upstream calls it, when that differs. A star stands for what the one in `name` stands for.
    #[serde(default)]
    pub(crate) model: Option<String>,
    /// In place of gate.rounds.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub(crate) rounds: Option<u32>,
    /// In place of backend: where the code of this model runs.
    #[serde(default)]
    pub(crate) backend: Option<String>,
}

/// The gate's own limits.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct GateFile {
    /// Turns of one response in which code may run.
    #[schemars(range(min = 1))]
    pub(crate) rounds: u32,
    /// Of one execution; without it limits.wall.
    #[schemars(range(min = 1))]
    pub(crate) execution_seconds: Option<u64>,
    /// Of one response.
    #[schemars(range(min = 1))]
    pub(crate) total_seconds: u64,
    /// Of an execution's output that the model is shown.
    #[schemars(range(min = 1))]
    pub(crate) model_output_bytes: usize,
    /// Executions of one owner at once; more wait.
    #[schemars(range(min = 1))]
    pub(crate) executions_per_owner: usize,
    /// The most that a request may give a container.
    pub(crate) max_memory_bytes: u64,
    /// Of one uploaded file.
    pub(crate) max_upload_bytes: u64,
    /// Of one request.
    pub(crate) max_body_bytes: usize,
    /// An expired container is an error, as it is with OpenAI, instead of being revived.
    pub(crate) strict_containers: bool,
}

impl Default for GateFile {
    fn default() -> Self {
        let usual = GateConfig::default();
        let limits = DoorLimits::default();
        Self {
            rounds: usual.rounds,
            execution_seconds: None,
            total_seconds: usual.total.as_secs(),
            model_output_bytes: usual.model_output_bytes,
            executions_per_owner: usual.executions_per_owner,
            max_memory_bytes: usual.max_memory,
            max_upload_bytes: limits.max_upload,
            max_body_bytes: limits.max_body,
            strict_containers: usual.strict,
        }
    }
}

impl Default for ConfigFile {
    fn default() -> Self {
        let ContainersConfig { idle, max_live, keep, network: _ } = ContainersConfig::default();
        Self {
            listen: LISTEN.to_owned(),
            idle_seconds: idle.as_secs(),
            max_live,
            pool: 4,
            keep_days: keep.as_secs() / DAY,
            limits: Limits::default(),
            log: None,
            log_format: LogFormat::default(),
            stop_grace_seconds: STOP_GRACE,
            telemetry: TelemetryFile::default(),
            master_key: None,
            upstream: None,
            upstreams: BTreeMap::new(),
            models: Vec::new(),
            backend: None,
            backends: BTreeMap::new(),
            embedded: true,
            gate: GateFile::default(),
            approvals: ApprovalsFile::default(),
            ledger: LedgerFile::default(),
            network: NetworkFile::default(),
            e2b: E2bFile::default(),
            opensandbox: OpenSandboxFile::default(),
        }
    }
}

impl ConfigFile {
    /// Upstreams that would be asked with each client's own key.
    pub(crate) fn keyless(&self) -> Vec<String> {
        let lone = self.upstream.iter().map(|upstream| ("upstream", upstream));
        let named = self.upstreams.iter().map(|(name, upstream)| (name.as_str(), upstream));
        let has_key = |upstream: &UpstreamFile| {
            let is_key = |name: &String| {
                ["authorization", "api-key", "x-api-key"].contains(&name.to_lowercase().as_str())
            };
            upstream.key.is_some() || upstream.api == Api::Loopback || upstream.headers.keys().any(is_key)
        };
        lone.chain(named)
            .filter(|(_, upstream)| !has_key(upstream))
            .map(|(name, _)| name.to_owned())
            .collect()
    }
}

//! The settings of a server: its YAML file, read strictly, with the options of the command line above it.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use sandgate_core::{ContainersConfig, Limits};
use sandgate_doors::openai::DoorLimits;
use sandgate_gate::GateConfig;
use serde::Deserialize;

use crate::bad_input::BadInput;
use crate::cli::ServeArgs;
use crate::upstream::UpstreamFile;

const LISTEN: &str = "127.0.0.1:4000";
/// In seconds.
const DAY: u64 = 24 * 60 * 60;

/// The file as written.
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ConfigFile {
    listen: String,
    idle_seconds: u64,
    max_live: usize,
    pool: usize,
    /// Days that the files of a container nobody uses are kept.
    keep_days: u64,
    limits: Limits,
    upstream: Option<UpstreamFile>,
    gate: GateFile,
}

/// `gate:` as written.
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct GateFile {
    rounds: u32,
    execution_seconds: Option<u64>,
    total_seconds: u64,
    model_output_bytes: usize,
    executions_per_owner: usize,
    max_memory_bytes: u64,
    max_upload_bytes: u64,
    max_body_bytes: usize,
    strict_containers: bool,
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
        let ContainersConfig { idle, max_live, keep } = ContainersConfig::default();
        Self {
            listen: LISTEN.to_owned(),
            idle_seconds: idle.as_secs(),
            max_live,
            pool: 4,
            keep_days: keep.as_secs() / DAY,
            limits: Limits::default(),
            upstream: None,
            gate: GateFile::default(),
        }
    }
}

/// The settings, checked.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) listen: SocketAddr,
    pub(crate) containers: ContainersConfig,
    pub(crate) pool: usize,
    pub(crate) limits: Limits,
    pub(crate) upstream: Option<UpstreamFile>,
    pub(crate) gate: GateConfig,
    pub(crate) door: DoorLimits,
}

#[derive(Debug, thiserror::Error)]
enum ConfigError {
    #[error("cannot read the configuration file {file}: {cause}", file = file.display())]
    Unreadable { file: PathBuf, cause: std::io::Error },
    #[error("{file}:{line}:{column}: {message}", file = file.display())]
    At { file: PathBuf, line: u64, column: u64, message: String },
    #[error("'{0}' must be at least 1")]
    Zero(&'static str),
    #[error("cannot listen on '{0}': an address and a port are wanted, such as {LISTEN}")]
    NoAddress(String),
    #[error(
        "refusing to listen on {0}: there are no keys yet, so anyone who reaches it could run code; \
         use 127.0.0.1 or [::1]"
    )]
    NotLocal(SocketAddr),
}

impl Settings {
    pub(crate) fn load(args: &ServeArgs) -> Result<Self> {
        settings(args).map_err(|error| BadInput::error(error.to_string()))
    }
}

fn settings(args: &ServeArgs) -> Result<Settings, ConfigError> {
    let file = match &args.config {
        Some(path) => {
            let text = std::fs::read_to_string(path)
                .map_err(|cause| ConfigError::Unreadable { file: path.clone(), cause })?;
            parse(path, &text)?
        }
        None => ConfigFile::default(),
    };
    let least = [
        ("idle_seconds", file.idle_seconds),
        ("max_live", file.max_live as u64),
        ("limits.memory_bytes", file.limits.memory_bytes),
        ("limits.processes", file.limits.processes.into()),
        ("limits.cpu_millis", file.limits.cpu_millis.into()),
        ("keep_days", file.keep_days),
        ("gate.rounds", file.gate.rounds.into()),
        ("gate.total_seconds", file.gate.total_seconds),
        ("gate.execution_seconds", file.gate.execution_seconds.unwrap_or(1)),
        ("gate.model_output_bytes", file.gate.model_output_bytes as u64),
        ("gate.executions_per_owner", file.gate.executions_per_owner as u64),
    ];
    if let Some((name, _)) = least.into_iter().find(|(_, value)| *value == 0) {
        return Err(ConfigError::Zero(name));
    }
    let idle = Duration::from_secs(file.idle_seconds);
    let keep = Duration::from_secs(file.keep_days.saturating_mul(DAY));
    let gate = GateConfig {
        rounds: file.gate.rounds,
        execution: file.gate.execution_seconds.map_or(file.limits.wall, Duration::from_secs),
        total: Duration::from_secs(file.gate.total_seconds),
        model_output_bytes: file.gate.model_output_bytes,
        executions_per_owner: file.gate.executions_per_owner,
        max_memory: file.gate.max_memory_bytes,
        strict: file.gate.strict_containers,
    };
    let door = DoorLimits {
        max_memory: file.gate.max_memory_bytes,
        max_upload: file.gate.max_upload_bytes,
        max_body: file.gate.max_body_bytes,
    };
    Ok(Settings {
        listen: local_address(args.listen.as_deref().unwrap_or(&file.listen))?,
        containers: ContainersConfig { idle, max_live: file.max_live, keep },
        pool: file.pool,
        limits: file.limits,
        upstream: file.upstream,
        gate,
        door,
    })
}

fn parse(file: &Path, text: &str) -> Result<ConfigFile, ConfigError> {
    // A file of comments alone is as good as none.
    let parsed: Result<Option<ConfigFile>, _> = serde_saphyr::from_str(text);
    parsed.map(Option::unwrap_or_default).map_err(|error| {
        let (line, column) = error.location().map_or((1, 1), |at| (at.line(), at.column()));
        let message = said(&error);
        ConfigError::At { file: file.to_owned(), line, column, message }
    })
}

/// The library's sentence without the place, which is said already.
fn said(error: &serde_saphyr::Error) -> String {
    let text = error.without_snippet().to_string();
    let first = text.lines().next().unwrap_or_default();
    first.split(" at line ").next().unwrap_or(first).to_owned()
}

fn local_address(text: &str) -> Result<SocketAddr, ConfigError> {
    let named = text.strip_prefix("localhost:").and_then(|port| port.parse().ok());
    let address = match named {
        Some(port) => SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port),
        None => text.parse().map_err(|_| ConfigError::NoAddress(text.to_owned()))?,
    };
    if address.ip().is_loopback() { Ok(address) } else { Err(ConfigError::NotLocal(address)) }
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;

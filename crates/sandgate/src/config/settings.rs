//! The settings, checked: what a server is started with, and what it can change while it runs.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use sandgate_core::{ContainersConfig, Limits};
use sandgate_doors::e2b::E2bSettings;
use sandgate_doors::openai::DoorLimits;
use sandgate_doors::opensandbox::OpenSandboxSettings;
use sandgate_gate::{GateConfig, LedgerConfig};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

use super::approvals::ApprovalSettings;
use super::backends::BackendSettings;
use super::e2b::{self, TlsSettings};
use super::errors::Problem;
use super::file::{ConfigFile, DAY, LISTEN};
use super::key_path::KeyPath;
use super::network::NetworkSettings;
use super::opensandbox;
use super::secrets::{Secret, SecretText};
use super::telemetry::{LogFormat, TelemetrySettings};
use super::upstreams::Upstreams;
use crate::size;

/// Where the master key comes from when the file does not say.
pub(crate) const MASTER_KEY: &str = "SANDGATE_MASTER_KEY";

#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) listen: SocketAddr,
    pub(crate) containers: ContainersConfig,
    pub(crate) pool: usize,
    pub(crate) limits: Limits,
    pub(crate) master_key: Option<Secret>,
    pub(crate) upstreams: Upstreams,
    /// Upstreams that have no key of their own, by name.
    pub(crate) keyless: Vec<String>,
    pub(crate) backends: BackendSettings,
    pub(crate) gate: GateConfig,
    pub(crate) door: DoorLimits,
    pub(crate) approvals: ApprovalSettings,
    pub(crate) ledger: LedgerConfig,
    pub(crate) network: NetworkSettings,
    pub(crate) e2b: E2bSettings,
    /// Where E2B's domain is served with TLS.
    pub(crate) e2b_tls: Option<TlsSettings>,
    pub(crate) opensandbox: OpenSandboxSettings,
    pub(crate) log: Option<String>,
    pub(crate) log_format: LogFormat,
    pub(crate) stop_grace: Duration,
    pub(crate) telemetry: TelemetrySettings,
    /// What the file says and we do not understand.
    pub(crate) warnings: Vec<String>,
}

pub(crate) fn check(file: &ConfigFile, listen: Option<&str>) -> Result<Settings, Problem> {
    large_enough(file)?;
    let master_key = match &file.master_key {
        Some(key) => Some(key.find().map_err(|message| Problem::at(KeyPath::of("master_key"), message))?),
        // One that is set and empty is a mistake in a deployment, and must not open the server.
        None if std::env::var_os(MASTER_KEY).is_some() => {
            let found = SecretText::new(format!("env:{MASTER_KEY}")).find();
            Some(found.map_err(|message| Problem::elsewhere(format!("{MASTER_KEY}: {message}")))?)
        }
        None => None,
    };
    if let Some(log) = &file.log
        && !is_log(log)
    {
        return Err(Problem::at(KeyPath::of("log"), "error, warn, info, debug or trace is wanted"));
    }
    let listen = match listen {
        Some(option) => address(option, master_key.is_some()).map_err(Problem::elsewhere)?,
        None => address(&file.listen, master_key.is_some())
            .map_err(|message| Problem::at(KeyPath::of("listen"), message))?,
    };
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
    let approvals = ApprovalSettings::of(&file.approvals, master_key.is_some())?;
    let network = file.network.check()?;
    let (e2b, e2b_tls) = e2b::check(&file.e2b, listen, |text| address(text, master_key.is_some()))?;
    Ok(Settings {
        listen,
        containers: ContainersConfig {
            idle: Duration::from_secs(file.idle_seconds),
            max_live: file.max_live,
            keep: Duration::from_secs(file.keep_days.saturating_mul(DAY)),
            network: network.rules.clone(),
        },
        pool: file.pool,
        limits: file.limits.clone(),
        master_key,
        upstreams: Upstreams::of(file)?,
        keyless: file.keyless(),
        backends: BackendSettings::of(file)?,
        gate,
        door,
        approvals,
        ledger: file.ledger.settings(),
        network,
        e2b,
        e2b_tls,
        opensandbox: opensandbox::check(&file.opensandbox, file.gate.max_memory_bytes)?,
        log: file.log.clone(),
        log_format: file.log_format,
        stop_grace: Duration::from_secs(file.stop_grace_seconds),
        telemetry: file.telemetry.check()?,
        warnings: Vec::new(),
    })
}

/// `info`, or `warn,sandgate=debug`. A word that is no level would be taken for the name of a part, and
/// silence all others.
fn is_log(text: &str) -> bool {
    let is_level = |word: &str| word.trim().parse::<LevelFilter>().is_ok();
    EnvFilter::try_new(text).is_ok() && text.split(',').all(|part| part.contains('=') || is_level(part))
}

/// Bounds below which nothing would run.
fn large_enough(file: &ConfigFile) -> Result<(), Problem> {
    let least = [
        ("idle_seconds", file.idle_seconds),
        ("max_live", file.max_live as u64),
        ("limits.processes", file.limits.processes.into()),
        ("limits.cpu_millis", file.limits.cpu_millis.into()),
        ("limits.open_files", file.limits.open_files),
        ("limits.code_bytes", file.limits.code_bytes),
        ("limits.contexts", file.limits.contexts.into()),
        ("keep_days", file.keep_days),
        ("ledger.keep_days", file.ledger.keep_days),
        ("gate.rounds", file.gate.rounds.into()),
        ("gate.total_seconds", file.gate.total_seconds),
        ("gate.execution_seconds", file.gate.execution_seconds.unwrap_or(1)),
        ("gate.model_output_bytes", file.gate.model_output_bytes as u64),
        ("gate.executions_per_owner", file.gate.executions_per_owner as u64),
    ];
    if let Some((name, _)) = least.into_iter().find(|(_, value)| *value == 0) {
        return Err(Problem::at(KeyPath::dotted(name), "must be at least 1"));
    }
    if file.limits.wall.is_zero() {
        return Err(Problem::at(KeyPath::dotted("limits.wall"), "must be more than 0 seconds"));
    }
    if file.limits.memory_bytes < size::SMALLEST {
        let message = format!("must be at least {} (64 MiB): an interpreter needs it", size::SMALLEST);
        return Err(Problem::at(KeyPath::dotted("limits.memory_bytes"), message));
    }
    Ok(())
}

/// Beyond this machine only with a key.
fn address(text: &str, has_key: bool) -> Result<SocketAddr, String> {
    let named = text.strip_prefix("localhost:").and_then(|port| port.parse().ok());
    let address = match named {
        Some(port) => SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port),
        None => text.parse().map_err(|_| {
            format!("cannot listen on '{text}': an address and a port are wanted, such as {LISTEN}")
        })?,
    };
    if address.ip().is_loopback() || has_key {
        return Ok(address);
    }
    Err(format!(
        "refusing to listen on {address}: there is no 'master_key', so anyone who reaches it could run code; \
         set one, or use 127.0.0.1 or [::1]"
    ))
}

impl Settings {
    /// What was understood, in lines for people. No secret is in it.
    pub(crate) fn described(&self) -> Vec<String> {
        let mut lines = vec![format!("listens on {}", self.listen)];
        lines.extend(self.upstreams.said.iter().chain(&self.backends.said).cloned());
        lines.extend(self.network.described());
        let whose =
            if self.master_key.is_some() { "there is a master key" } else { "there is no master key" };
        lines.push(whose.to_owned());
        lines.extend(self.approvals.said.clone());
        lines.push(match &self.ledger {
            LedgerConfig { enabled: false, .. } => "there is no ledger".to_owned(),
            LedgerConfig { code: true, .. } => "the ledger holds code and output".to_owned(),
            LedgerConfig { code: false, .. } => "the ledger holds neither code nor output".to_owned(),
        });
        let GateConfig { rounds, execution, total, .. } = &self.gate;
        lines.push(format!(
            "a response: {rounds} rounds of code, {} s an execution, {} s in all",
            execution.as_secs_f64(),
            total.as_secs()
        ));
        lines.push(format!(
            "sandboxes: {} ready, {} at most, idle after {} s",
            self.pool,
            self.containers.max_live,
            self.containers.idle.as_secs()
        ));
        if let Some(domain) = &self.e2b.domain {
            let served = self.e2b_tls.as_ref().map(|tls| format!(", with TLS on {}", tls.listen));
            lines.push(format!("E2B's domain is {domain}{}", served.unwrap_or_default()));
        }
        lines
    }

    /// What differs and cannot change without a new start.
    pub(crate) fn fixed_changes(&self, new: &Self) -> Vec<&'static str> {
        let (old, now) = (&self.containers, &new.containers);
        let differs = [
            ("listen", self.listen != new.listen),
            ("idle_seconds", old.idle != now.idle),
            ("max_live", old.max_live != now.max_live),
            ("keep_days", old.keep != now.keep),
            ("pool", self.pool != new.pool),
            ("limits", self.limits != new.limits),
            ("stop_grace_seconds", self.stop_grace != new.stop_grace),
            ("telemetry", self.telemetry != new.telemetry),
            ("master_key", self.master_key != new.master_key),
            ("gate.max_memory_bytes", self.door.max_memory != new.door.max_memory),
            ("gate.max_upload_bytes", self.door.max_upload != new.door.max_upload),
            ("gate.max_body_bytes", self.door.max_body != new.door.max_body),
            ("gate.strict_containers", self.gate.strict != new.gate.strict),
            ("network", self.network.file != new.network.file),
            ("e2b", self.e2b != new.e2b || self.e2b_tls != new.e2b_tls),
            ("opensandbox", self.opensandbox != new.opensandbox),
            ("backends", self.backends.said != new.backends.said),
        ];
        differs.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name).collect()
    }
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;

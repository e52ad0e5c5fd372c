//! The one client of this benchmark in its two places: on the host, and inside a sandbox of a real engine.

use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use sandgate_core::network::{NetworkLimits, NetworkPolicy};
use sandgate_core::{Backend, ExecuteRequest, Outcome, Sandbox, SandboxSpec};
use sandgate_engine::{EgressConfig, Engine, NetworkConfig, Resolution};
use serde_json::{Value, json};

use super::ends::{NAME, OUTSIDE, serve_names};
use crate::bench::engines;
use crate::ground::Ground;

const CLIENT: &str = include_str!("client.py");

pub(super) struct Clients {
    tokio: tokio::runtime::Runtime,
    engine: Arc<Engine>,
    sandbox: Arc<dyn Sandbox>,
    port: u16,
    bytes: usize,
    congestion: String,
}

/// How a client gets there.
#[derive(Clone, Copy, Debug)]
pub(super) enum Way {
    /// On the host, by the address.
    Direct,
    /// Inside, by CONNECT, as programs do that know of proxies, for TLS.
    Tunnel,
    /// Inside, by a name as if there were no proxy.
    Plain,
    /// Inside, by a request to the proxy, as programs do that know of it, without TLS.
    Http,
}

impl Way {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Tunnel => "tunnel",
            Self::Plain => "plain",
            Self::Http => "http",
        }
    }
}

impl Clients {
    /// An engine, and a sandbox in it that may reach the one port of the one name.
    pub(super) fn start(ground: &Ground, port: u16, bytes: usize, congestion: &str) -> Result<Self> {
        let tokio = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let egress = EgressConfig {
            resolution: Resolution::Servers(vec![serve_names()?]),
            allow_private: vec![format!("{OUTSIDE}/32").parse()?],
            ..EgressConfig::default()
        };
        // More connections in a second than a sandbox may have, as their cost is what is measured.
        let limits = NetworkLimits { connections_per_second: u32::MAX, ..NetworkLimits::default() };
        let network = NetworkConfig { egress, limits, ..NetworkConfig::default() };
        let (engine, sandbox) = tokio.block_on(async {
            let engine = engines::with_network(ground, network).await?;
            let policy = NetworkPolicy::from_words([format!("{NAME}:{port}").as_str()])?;
            let sandbox = engine.create(SandboxSpec { network: policy, ..SandboxSpec::default() }).await?;
            anyhow::Ok((engine, sandbox))
        })?;
        Ok(Self { tokio, engine, sandbox, port, bytes, congestion: congestion.to_owned() })
    }

    /// Figures of one kind, so many of them.
    pub(super) fn measure(&self, way: Way, what: &str, times: usize) -> Result<Vec<f64>> {
        let is_direct = matches!(way, Way::Direct);
        let host = if is_direct { OUTSIDE.to_string() } else { NAME.to_owned() };
        let congestion = if is_direct { self.congestion.as_str() } else { "" };
        let plan = json!({"way": way.name(), "what": what, "host": host, "port": self.port, "times": times,
            "bytes": self.bytes, "congestion": congestion});
        let code = format!("PLAN = {}\n{CLIENT}", Value::String(plan.to_string()));
        let said = if is_direct { self.on_host(&code)? } else { self.inside(&code)? };
        serde_json::from_str(&said).with_context(|| format!("the client said: {said}"))
    }

    /// By the same interpreter.
    fn on_host(&self, code: &str) -> Result<String> {
        let python = &self.engine.runtime().interpreter;
        let done = Command::new(python).args(["-I", "-c", code]).output()?;
        ensure!(done.status.success(), "the client failed: {}", String::from_utf8_lossy(&done.stderr));
        Ok(String::from_utf8(done.stdout)?)
    }

    fn inside(&self, code: &str) -> Result<String> {
        let timeout = Some(Duration::from_secs(120));
        let request = ExecuteRequest { code: code.to_owned(), timeout, ..ExecuteRequest::default() };
        let outcome = self
            .tokio
            .block_on(async { anyhow::Ok(Outcome::collect(self.sandbox.execute(request).await?).await?) })?;
        ensure!(outcome.ending.exit_code() == 0, "the client failed: {outcome:?}");
        Ok(outcome.stdout)
    }

    pub(super) fn end(&self) {
        self.tokio.block_on(self.engine.shut_down());
    }
}

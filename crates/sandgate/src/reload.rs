//! SIGHUP: the configuration is read again, and what can change does, without dropping a request.

use std::path::Path;

use anyhow::Result;
use sandgate_gate::upstream::Router;
use sandgate_gate::{Approvals, Gate, Ledger};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::cli::ServeArgs;
use crate::config::Settings;
use crate::logging;
use crate::start_check::check_keys;

#[derive(Debug)]
pub(crate) struct Reload {
    hang_ups: Signal,
    args: ServeArgs,
}

impl Reload {
    /// From now on SIGHUP no longer ends the program.
    pub(crate) fn new(args: ServeArgs) -> std::io::Result<Self> {
        Ok(Self { hang_ups: signal(SignalKind::hangup())?, args })
    }

    /// Goes on for as long as the server does, which was started with these settings.
    pub(crate) async fn on_each_hang_up(
        mut self,
        home: &Path,
        started: &Settings,
        gate: &Gate,
        router: &Router,
        approvals: &Approvals,
        ledger: &Ledger,
    ) {
        while self.hang_ups.recv().await.is_some() {
            match self.load(home).await {
                Ok(new) => {
                    ledger.reconfigure(new.ledger.clone());
                    apply(started, new, gate, router, approvals);
                }
                Err(error) => {
                    tracing::error!("the configuration was not changed, as it cannot be used: {error:#}");
                }
            }
        }
        std::future::pending().await
    }

    async fn load(&self, home: &Path) -> Result<Settings> {
        let args = self.args.clone();
        // Reads files, and may wait for a slow disk.
        let settings = tokio::task::spawn_blocking(move || Settings::load(&args)).await??;
        check_keys(home, &settings).await?;
        Ok(settings)
    }
}

fn apply(started: &Settings, new: Settings, gate: &Gate, router: &Router, approvals: &Approvals) {
    for warning in &new.warnings {
        tracing::warn!("{warning}");
    }
    let fixed = started.fixed_changes(&new);
    if !fixed.is_empty() {
        tracing::warn!("these keys have changed, but take a new start: {}", fixed.join(", "));
    }
    logging::set_level(new.log.as_deref());
    logging::set_format(new.log_format);
    gate.reconfigure(sandgate_gate::GateConfig {
        max_memory: started.gate.max_memory,
        strict: started.gate.strict,
        ..new.gate
    });
    router.replace(new.upstreams.routes);
    approvals.replace(new.approvals.policy);
    for line in new.upstreams.said.iter().chain(&new.approvals.said) {
        tracing::info!("{line}");
    }
    tracing::info!("the configuration was read again");
}

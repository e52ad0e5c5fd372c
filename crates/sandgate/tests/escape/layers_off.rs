//! Engines with one layer taken away, to see that the layer is missed: what only it stops gets through.
//!
//! Some layers cannot be taken away, because nothing would be left to run in:
//! - `mount`, `pid`, `user`: a sandbox is made of these namespaces; its files, its first process and the ids that
//!   own both hang on them. The control run is their proof: the same attempt with the host's namespaces gets
//!   through, and `namespaces/shares-*` sees that a sandbox has others.
//! - `cgroupns`: made together with those, and proven in the same way.
//! - `environment`: that no variable of the server reaches a sandbox is not one step that could be left out, but
//!   how its helpers are started. The server of the main test has the secret, which is checked there.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use sandgate_core::{Backend, Ending, ExecuteRequest, LimitKind, Outcome, SandboxSpec};
use sandgate_engine::runtime::Silent;
use sandgate_engine::{Engine, EngineConfig, Layers, LimitsBy};
use tokio::runtime::Runtime;

use crate::attempt::{Attempt, Verdict};
use crate::stage::{NEIGHBOUR, Neighbour};

/// An engine without a layer.
pub(crate) struct Case {
    /// As the attempts name it.
    pub(crate) off: &'static str,
    pub(crate) layers: Layers,
    pub(crate) limits_by: LimitsBy,
}

impl Case {
    /// Whether what is off has a part in stopping the attempt. Those that take seconds are left out as well.
    pub(crate) fn concerns(&self, attempt: &Attempt) -> bool {
        let slow = attempt.name.starts_with("limits/") && attempt.concerns("cgroup");
        slow || attempt.concerns(self.off) || (!self.layers.capabilities && attempt.concerns("caps"))
    }
}

pub(crate) fn cases() -> Vec<Case> {
    let case = |off, layers| Case { off, layers, limits_by: LimitsBy::Cgroups };
    let all = Layers::ALL;
    vec![
        case("seccomp", Layers { seccomp: false, ..all }),
        case("landlock", Layers { landlock: false, ..all }),
        case("caps", Layers { capabilities: false, ..all }),
        // Landlock and seccomp ask for it, or else for a capability, so that alone it cannot be off: see
        // `nothing_runs_without_no_new_privileges`. The case above shows that its attempt does not get through for
        // the capabilities.
        case("nnp", Layers { no_new_privileges: false, capabilities: false, ..all }),
        case("rlimit", Layers { resource_limits: false, ..all }),
        case("descriptors", Layers { close_descriptors: false, ..all }),
        case("procmask", Layers { proc_masks: false, ..all }),
        case("net", Layers { network: false, ..all }),
        case("ipc", Layers { ipc: false, ..all }),
        case("uts", Layers { hostname: false, ..all }),
        Case { off: "cgroup", layers: all, limits_by: LimitsBy::Rlimits },
    ]
}

/// The engine in this very process: what the command line does not offer, the library does.
pub(crate) struct Running {
    runtime: Runtime,
    engine: Arc<Engine>,
    home: PathBuf,
}

impl Running {
    pub(crate) fn start(home: &Path, layers: Layers, limits_by: LimitsBy) -> Result<Self> {
        let runtime = Runtime::new()?;
        let config = EngineConfig {
            pool: 4,
            limits_by,
            layers,
            ..EngineConfig::new(home.to_owned(), env!("CARGO_BIN_EXE_sandgate").into())
        };
        let engine = runtime.block_on(Engine::start(config, &Silent))?;
        Ok(Self { runtime, engine, home: home.to_owned() })
    }

    /// Leaves a sandbox running beside the others.
    pub(crate) fn neighbour(&self) -> Result<Neighbour> {
        self.runtime.block_on(async {
            let request = ExecuteRequest { code: NEIGHBOUR.to_owned(), ..ExecuteRequest::default() };
            let sandbox = self.engine.create(SandboxSpec::default()).await?;
            Outcome::collect(sandbox.execute(request).await?).await
        })?;
        Neighbour::find(&self.home)
    }

    /// Runs a program in a sandbox of its own.
    pub(crate) fn run(&self, program: String) -> Result<Verdict> {
        let outcome = self.runtime.block_on(async {
            let request = ExecuteRequest { code: program, ..ExecuteRequest::default() };
            let sandbox = self.engine.create(SandboxSpec::default()).await?;
            let outcome = Outcome::collect(sandbox.execute(request).await?).await?;
            self.engine.delete(sandbox.id()).await?;
            anyhow::Ok(outcome)
        })?;
        if outcome.stdout.is_empty() && outcome.ending == (Ending::LimitHit { limit: LimitKind::Memory }) {
            return Ok(Verdict::Blocked("SIGKILL".to_owned()));
        }
        Ok(match Verdict::read(&outcome.stdout) {
            Verdict::Neither(said) => {
                Verdict::Neither(format!("{said} {:?} {}", outcome.ending, outcome.stderr))
            }
            verdict => verdict,
        })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.runtime.block_on(self.engine.shut_down());
    }
}

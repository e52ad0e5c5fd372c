//! A running sandbox: its namespaces, its contexts, its files.

mod beside;
mod context;
mod contexts;
mod language;
mod making;
mod network;
mod pipes;
mod run;
mod stillness;
mod usage;
mod variables;

use std::collections::HashMap;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use sandgate_core::network::NetworkPolicy;
use sandgate_core::{
    BackendError, ContextId, ContextInfo, ContextSpec, ExecuteRequest, Execution, Files, Inside, Meter,
    Processes, Result, Sandbox, SandboxId, SandboxSpec, Usage,
};
use sandgate_jail::cgroup::GroupEvents;
use sandgate_jail::sys;
use tokio_util::sync::CancellationToken;

use crate::agent::{Account, AgentSlot, EngineInside, EngineProcesses, ProcessTable};
use crate::files::VolumeFiles;
use crate::files::walk::Snapshot;
use crate::frame::Settings;
use crate::kernel::{Kernel, Place};
use crate::shared::{Shared, blocking};
use crate::volume::Volume;
use crate::way_out::WayOut;
use crate::zygote::ForkOrder;
use context::Context;
use stillness::StandsStill;

#[derive(Debug)]
pub(crate) struct EngineSandbox {
    pub(crate) shared: Arc<Shared>,
    pub(crate) volume: Volume,
    spec: SandboxSpec,
    /// What every interpreter finds in its environment.
    env: Vec<(String, String)>,
    files: Arc<VolumeFiles>,
    /// PID 1: as long as it lives, so do the namespaces.
    init: OwnedFd,
    contexts: Mutex<HashMap<ContextId, Arc<Context>>>,
    /// How many contexts were made beside the default one.
    made_contexts: AtomicU64,
    stopped: AtomicBool,
    paused: AtomicBool,
    /// Frozen for a moment, by the engine itself: whoever wants something of it waits.
    held_still: AtomicBool,
    /// There were variables once, before this process of the sandbox.
    revived: bool,
    seen: Mutex<Seen>,
    /// What runs commands and looks at files from within; there from its first use on.
    pub(crate) agent: AgentSlot,
    pub(crate) processes: ProcessTable,
    pub(crate) disk_is_watched: AtomicBool,
    /// What changes from outside take of the disk.
    pub(crate) account: Account,
    stands_still: Mutex<StandsStill>,
    way_out: WayOut,
    /// The variables of a network that was opened later than `env` was made.
    later_env: Mutex<Vec<(String, String)>>,
    end: CancellationToken,
}

/// The state after the last execution, against which the next one is compared.
#[derive(Debug, Default)]
struct Seen {
    files: Snapshot,
    events: GroupEvents,
}

impl EngineSandbox {
    /// Forks, confines and limits a kernel for one context.
    async fn start_kernel(&self, context: &ContextId, at_once: Option<Settings<'_>>) -> Result<Kernel> {
        // With a prefix, so that no context can take the name of another group.
        let (sandbox, leaf) = (self.volume.id.to_string(), format!("context-{context}"));
        let groups = match &self.shared.cgroups {
            // A folder in a memory file system: not worth a thread.
            Some(cgroups) => cgroups.make_context(&sandbox, &leaf),
            None => Ok(Vec::new()),
        };
        let groups = groups.map_err(|error| BackendError::Engine(error.to_string()))?;
        let order = ForkOrder::new(self.shared.layers, &self.spec.limits, self.shared.cgroups.is_some());
        let place = Place { cgroups: self.shared.cgroups.clone(), sandbox, context: leaf };
        let zygote = self.shared.zygotes.current(&self.shared).await?;
        Kernel::start(zygote, &self.init, order, place, groups, at_once).await
    }

    /// Has a kernel ready for the default context before anybody asks, and its first steps taken.
    pub(crate) async fn warm_up(&self) -> Result<()> {
        let context = self.context(None, None)?;
        context.warm_up(self).await
    }

    fn seen(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn group_events(&self) -> GroupEvents {
        let events = self.shared.cgroups.as_ref().map(|cgroups| cgroups.events(self.volume.id.as_str()));
        events.and_then(std::result::Result::ok).unwrap_or_default()
    }

    /// For one that could not be handed out: ends it and removes its files.
    pub(crate) async fn discard(&self) {
        let ended = self.end().await;
        let (shared, volume) = (Arc::clone(&self.shared), self.volume.clone());
        let removed = blocking(move || shared.volumes.remove(&volume)).await;
        if ended.is_err() || !matches!(removed, Ok(Ok(()))) {
            tracing::warn!(sandbox = %self.volume.id, "a sandbox that failed could not be cleared away");
        }
    }

    /// Ends everything inside and waits until it has ended. Files stay.
    pub(crate) async fn end(&self) -> Result<()> {
        if self.stopped.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        self.end.cancel();
        self.way_out.close().await;
        // Dropping the kernels closes their connections; runs in progress see that and end.
        self.lock_contexts().drain().for_each(|(_, context)| context.close());
        let init = self.init.try_clone().map_err(|error| BackendError::Engine(error.to_string()))?;
        let (shared, id) = (Arc::clone(&self.shared), self.volume.id.clone());
        blocking(move || {
            if let Some(cgroups) = &shared.cgroups {
                // What is frozen cannot die.
                let _ = cgroups.freeze(id.as_str(), false);
            }
            // With its PID 1 the kernel ends every process of the PID namespace, and only then PID 1 itself.
            let _ = sys::send_signal(init.as_fd(), libc::SIGKILL);
            let _ = sys::wait_readable([init.as_fd()]);
            if let Some(cgroups) = &shared.cgroups
                && let Err(error) = cgroups.remove(id.as_str())
            {
                tracing::warn!(sandbox = %id, %error, "a control group could not be removed");
            }
        })
        .await
    }
}

#[async_trait]
impl Sandbox for EngineSandbox {
    fn id(&self) -> &SandboxId {
        &self.volume.id
    }

    fn is_alive(&self) -> bool {
        // The descriptor of a process can be read once it has ended.
        !self.stopped.load(Ordering::Acquire) && !sys::has_ended(self.init.as_fd())
    }

    fn languages(&self) -> Vec<String> {
        self.runnable()
    }

    async fn create_context(&self, spec: ContextSpec) -> Result<ContextInfo> {
        self.make_context(spec)
    }

    async fn contexts(&self) -> Result<Vec<ContextInfo>> {
        Ok(self.list_contexts())
    }

    async fn delete_context(&self, id: &ContextId) -> Result<()> {
        self.end_context(id).await
    }

    async fn restart_context(&self, id: &ContextId) -> Result<()> {
        self.context(Some(id), None)?.restart().await;
        Ok(())
    }

    async fn execute(&self, request: ExecuteRequest) -> Result<Execution> {
        self.start_execution(request)
    }

    async fn pause(&self) -> Result<()> {
        self.freeze(true).await
    }

    async fn resume(&self) -> Result<()> {
        self.freeze(false).await
    }

    async fn stop(&self) -> Result<()> {
        self.shared.forget(&self.volume.id);
        self.end().await
    }

    fn files(&self) -> Arc<dyn Files> {
        Arc::clone(&self.files) as Arc<dyn Files>
    }

    fn meter(&self) -> Option<Meter> {
        // Two files of a memory file system: not worth a thread.
        let usage = self.shared.cgroups.as_ref()?.usage(self.volume.id.as_str()).ok()?;
        Some(Meter { cpu_micros: usage.cpu_micros, memory_peak_bytes: usage.memory_peak_bytes })
    }

    async fn is_busy(&self) -> Result<bool> {
        let busy = self.lock_contexts().values().any(|context| context.is_busy());
        Ok(busy || !self.processes.is_empty())
    }

    async fn inside(&self) -> Result<Arc<dyn Inside>> {
        Ok(Arc::new(EngineInside::new(self.shared.live(&self.volume.id)?)))
    }

    async fn processes(&self) -> Result<Arc<dyn Processes>> {
        Ok(Arc::new(EngineProcesses::new(self.shared.live(&self.volume.id)?)))
    }

    async fn set_network(&self, policy: NetworkPolicy) -> Result<()> {
        self.change_network(policy).await
    }

    async fn usage(&self) -> Result<Usage> {
        self.used().await
    }
}

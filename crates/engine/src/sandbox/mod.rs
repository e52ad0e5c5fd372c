//! A running sandbox: its namespaces, its contexts, its files.

mod beside;
mod context;
mod language;
mod pipes;
mod run;

use std::collections::HashMap;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use sandgate_core::network::NetworkPolicy;
use sandgate_core::{
    BackendError, ContextId, ContextInfo, ContextSpec, ExecuteRequest, Execution, ExecutionHandle, Files,
    Inside, Meter, Processes, Result, Sandbox, SandboxId, SandboxPath, SandboxSpec, Usage, random_hex,
};
use sandgate_jail::cgroup::{Cgroups, GroupEvents, GroupLimits};
use sandgate_jail::sys;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::agent::{Account, AgentSlot, EngineInside, EngineProcesses, ProcessTable};
use crate::files::VolumeFiles;
use crate::files::walk::{DiskUsage, Snapshot, held_open, snapshot};
use crate::frame::Settings;
use crate::kernel::{Kernel, Place};
use crate::runtime::languages::Language;
use crate::shared::{Shared, blocking};
use crate::volume::Volume;
use crate::way_out::{self, WayOut};
use crate::zygote::ForkOrder;
use beside::StandsStill;
use context::Context;
use language::{default_context, language_of_default, other_language};

/// So many files on disk are walked without leaving the thread.
const FEW_FILES: u64 = 200;
/// Events that may wait for a slow reader before the code has to.
const EVENTS_AHEAD: usize = 256;
/// How long a sandbox may take to stand still before it is copied as it is.
const FREEZES_WITHIN: Duration = Duration::from_secs(2);
/// Bytes of the variables that one run may bring with it.
const MAX_RUN_ENV: usize = 1 << 20;

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

/// Limits the kernel keeps, out of all limits.
pub(crate) fn group_limits(spec: &SandboxSpec) -> GroupLimits {
    GroupLimits {
        memory_bytes: spec.limits.memory_bytes,
        processes: spec.limits.processes,
        cpu_millis: spec.limits.cpu_millis,
    }
}

/// A plain Linux account's, and what was asked for; where both name a variable, what was asked for counts.
fn environment(shared: &Shared, spec: &SandboxSpec) -> Vec<(String, String)> {
    let path = language::path(&shared.runtimes, spec);
    let own = [
        ("PATH", path.as_str()),
        ("HOME", "/home/user"),
        ("USER", "user"),
        ("LOGNAME", "user"),
        ("SHELL", "/bin/bash"),
        ("LANG", "C.UTF-8"),
        ("TERM", "dumb"),
    ];
    let own = own.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    own.chain(way_out::variables(&spec.network)).chain(spec.env.iter().cloned()).collect()
}

fn check_working_dir(spec: &SandboxSpec) -> Result<()> {
    match spec.working_dir.as_deref() {
        Some(dir) if !dir.starts_with('/') => {
            Err(BackendError::Invalid("a working folder must be a path from the root".to_owned()))
        }
        Some(dir) => SandboxPath::parse(dir).map(drop),
        None => Ok(()),
    }
}

/// Variables that no process could have are refused before a kernel meets them.
fn check_env(env: &[(String, String)]) -> Result<()> {
    let size: usize = env.iter().map(|(name, value)| name.len() + value.len()).sum();
    if size > MAX_RUN_ENV {
        let text = format!("the variables of a run are {size} bytes long; the limit is {MAX_RUN_ENV}");
        return Err(BackendError::Invalid(text));
    }
    let bad = env
        .iter()
        .find(|(name, value)| name.is_empty() || name.contains(['=', '\0']) || value.contains('\0'));
    match bad {
        Some((name, _)) => {
            let name: String = name.chars().take(100).collect();
            Err(BackendError::Invalid(format!("{name:?} cannot be an environment variable with this value")))
        }
        None => Ok(()),
    }
}

/// Makes the control group, the namespaces, and the process that holds them.
fn start_init(shared: &Shared, volume: &Volume, spec: &SandboxSpec) -> Result<OwnedFd> {
    let engine = |error: &dyn std::fmt::Display| BackendError::Engine(error.to_string());
    let mut groups = Vec::new();
    if let Some(cgroups) = &shared.cgroups {
        let made = cgroups.make(volume.id.as_str(), group_limits(spec));
        let entrances = made.and_then(|()| cgroups.entrances(volume.id.as_str()));
        groups = entrances.map_err(|error| engine(&error))?;
    }
    let (tmp, ids) = (spec.limits.tmp_bytes, shared.volumes.ids().pair(volume.slot));
    shared.helper.make_sandbox(volume.id.as_str(), tmp, ids, &groups).map_err(|error| engine(&error))
}

impl EngineSandbox {
    /// Makes the namespaces and control groups over `volume`. Blocks for some 2 ms.
    pub(crate) fn make(
        shared: Arc<Shared>,
        volume: Volume,
        spec: SandboxSpec,
        revived: bool,
    ) -> Result<Self> {
        check_working_dir(&spec)?;
        let engine = |error: &dyn std::fmt::Display| BackendError::Engine(error.to_string());
        let ids = shared.volumes.ids();
        let owner = ids.host_user(volume.slot);
        let (bytes, entries) = (spec.limits.disk_bytes, spec.limits.disk_entries);
        let files =
            VolumeFiles::open(&volume.root(), owner, bytes, entries).map_err(|error| engine(&error))?;
        let init = start_init(&shared, &volume, &spec);
        if init.is_err()
            && let Some(cgroups) = &shared.cgroups
        {
            let _ = cgroups.remove(volume.id.as_str());
        }
        let init = init?;
        if revived {
            files.set_changed();
        }
        Ok(Self {
            env: environment(&shared, &spec),
            shared,
            volume,
            spec,
            files: Arc::new(files),
            init,
            contexts: Mutex::default(),
            made_contexts: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
            paused: AtomicBool::new(false),
            held_still: AtomicBool::new(false),
            revived,
            seen: Mutex::default(),
            agent: AgentSlot::default(),
            processes: ProcessTable::default(),
            disk_is_watched: AtomicBool::new(false),
            account: Account::default(),
            stands_still: Mutex::default(),
            way_out: WayOut::default(),
            later_env: Mutex::default(),
            end: CancellationToken::new(),
        })
    }

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

    /// Lets a sandbox that waited in the pool be what was asked for.
    pub(crate) fn adopt(&mut self, spec: SandboxSpec) -> Result<()> {
        check_working_dir(&spec)?;
        if group_limits(&spec) != group_limits(&self.spec)
            && let Some(cgroups) = &self.shared.cgroups
        {
            cgroups
                .make(self.volume.id.as_str(), group_limits(&spec))
                .map_err(|error| BackendError::Engine(error.to_string()))?;
        }
        self.env = environment(&self.shared, &spec);
        self.spec = spec;
        Ok(())
    }

    fn lock_contexts(&self) -> std::sync::MutexGuard<'_, HashMap<ContextId, Arc<Context>>> {
        self.contexts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where contexts work that were not given a folder of their own.
    fn working_dir(&self) -> &str {
        self.spec.working_dir.as_deref().unwrap_or(SandboxPath::WORKING_DIR)
    }

    /// The context an execution means; the default one of a language is made on first use.
    fn context(&self, id: Option<&ContextId>, language: Option<&str>) -> Result<Arc<Context>> {
        if self.stopped.load(Ordering::Acquire) {
            return Err(BackendError::NoSuchSandbox(self.volume.id.clone()));
        }
        let language =
            language.or_else(|| language_of_default(id?)).map(|name| self.language(name)).transpose()?;
        let named = id.filter(|id| **id != ContextId::default_context() && language_of_default(id).is_none());
        let chosen = language.unwrap_or((Language::Python, None));
        let default = default_context(chosen.0);
        let mut contexts = self.lock_contexts();
        let context = match (named, contexts.get(named.unwrap_or(&default))) {
            (_, Some(context)) => Arc::clone(context),
            (None, None) => {
                let (cwd, number) = (None, self.number_of_default(chosen.0));
                let context = Arc::new(Context::new(default.clone(), chosen, cwd, number, self.revived));
                contexts.insert(default, Arc::clone(&context));
                context
            }
            (Some(id), None) => return Err(BackendError::NoSuchContext(id.clone())),
        };
        match language {
            Some((asked, _)) if asked != context.language => Err(other_language(&context, asked)),
            _ => self.check_runtime(&context).map(|()| context),
        }
    }

    async fn disk(&self) -> Result<Snapshot> {
        let (files, entries) = (Arc::clone(&self.files), self.spec.limits.disk_entries);
        // A few files are looked at sooner than another thread would have woken up.
        if self.seen().files.usage.entries < FEW_FILES {
            let now = snapshot(files.root().as_fd(), FEW_FILES);
            if now.usage.entries < FEW_FILES {
                return Ok(now);
            }
        }
        blocking(move || snapshot(files.root().as_fd(), entries)).await
    }

    /// What is on disk, with files that were removed but are still held open.
    async fn disk_with_removed(&self) -> Result<DiskUsage> {
        let mut usage = self.disk().await?.usage;
        let (files, shared, id) = (Arc::clone(&self.files), Arc::clone(&self.shared), self.volume.id.clone());
        usage.bytes += blocking(move || {
            let processes = shared.cgroups.as_ref().and_then(|groups| groups.all_processes(id.as_str()).ok());
            held_open(files.root(), &processes.unwrap_or_default())
        })
        .await?;
        Ok(usage)
    }

    fn over_limit(&self, usage: DiskUsage) -> bool {
        usage.bytes > self.spec.limits.disk_bytes || usage.entries > self.spec.limits.disk_entries
    }

    fn seen(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn group_events(&self) -> GroupEvents {
        let events = self.shared.cgroups.as_ref().map(|cgroups| cgroups.events(self.volume.id.as_str()));
        events.and_then(std::result::Result::ok).unwrap_or_default()
    }

    /// What its spec says of the network becomes true.
    pub(crate) async fn open_network(&self) -> Result<()> {
        self.reach(self.spec.network.clone()).await
    }

    async fn reach(&self, policy: NetworkPolicy) -> Result<()> {
        let trusted = self.way_out.set(&self.shared, &self.volume.id, &self.init, policy).await?;
        if let Some(certificates) = trusted {
            let path = SandboxPath::parse(way_out::BUNDLE)?;
            self.files.write(&path, &mut certificates.as_bytes()).await?;
        }
        Ok(())
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
        let implied = spec.id.as_ref().and_then(language_of_default);
        let language = spec.language.as_deref().or(implied).unwrap_or(Language::Python.name());
        let chosen = self.language(language)?;
        let cwd = spec.cwd.as_deref().map(SandboxPath::parse).transpose()?;
        let id = spec.id.map_or_else(|| ContextId::parse(&format!("ctx_{}", random_hex(8))), Ok)?;
        let mut contexts = self.lock_contexts();
        let limit = self.spec.limits.contexts;
        if contexts.len() >= usize::try_from(limit).unwrap_or(usize::MAX) {
            return Err(BackendError::TooManyContexts { limit });
        }
        if contexts.contains_key(&id) {
            return Err(BackendError::ContextExists(id));
        }
        let number = self.made_contexts.fetch_add(1, Ordering::Relaxed) + 1;
        let cwd = cwd.map(|cwd| cwd.to_string());
        let context = Arc::new(Context::new(id.clone(), chosen, cwd, number, /* had_variables */ false));
        self.check_runtime(&context)?;
        let info = context.info(self);
        contexts.insert(id, context);
        Ok(info)
    }

    async fn contexts(&self) -> Result<Vec<ContextInfo>> {
        let mut all: Vec<_> = self.lock_contexts().values().cloned().collect();
        all.sort_by_key(|context| context.number);
        Ok(all.iter().map(|context| context.info(self)).collect())
    }

    async fn delete_context(&self, id: &ContextId) -> Result<()> {
        let context =
            self.lock_contexts().remove(id).ok_or_else(|| BackendError::NoSuchContext(id.clone()))?;
        context.close();
        context.end().await;
        Ok(())
    }

    async fn restart_context(&self, id: &ContextId) -> Result<()> {
        self.context(Some(id), None)?.restart().await;
        Ok(())
    }

    async fn execute(&self, request: ExecuteRequest) -> Result<Execution> {
        check_env(&request.env)?;
        let size = request.code.len() as u64;
        let limit = self.spec.limits.code_bytes;
        if size > limit {
            return Err(BackendError::CodeTooLarge { size, limit });
        }
        let context = self.context(request.context.as_ref(), request.language.as_deref())?;
        let (events, receiver) = mpsc::channel(EVENTS_AHEAD);
        let (handle, stops) = ExecutionHandle::new();
        let sandbox = self.shared.live(&self.volume.id)?;
        let turn = context.queue_up();
        self.shared.tasks.spawn(async move { context.execute(&sandbox, turn, request, events, stops).await });
        Ok(Execution { events: receiver, handle })
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
        if self.is_stopped() {
            return Err(BackendError::NoSuchSandbox(self.volume.id.clone()));
        }
        let variables = way_out::variables(&policy);
        self.reach(policy).await?;
        *self.later_env.lock().unwrap_or_else(PoisonError::into_inner) = variables;
        Ok(())
    }

    async fn usage(&self) -> Result<Usage> {
        let disk = self.disk().await?.usage;
        let mut usage = Usage { disk_bytes: disk.bytes, ..Usage::default() };
        if let Some(cgroups) = &self.shared.cgroups {
            let group = cgroups
                .usage(self.volume.id.as_str())
                .map_err(|error| BackendError::Engine(error.to_string()))?;
            usage.memory_bytes = group.memory_bytes;
            usage.memory_peak_bytes = group.memory_peak_bytes;
            usage.cpu_micros = group.cpu_micros;
            usage.processes = group.processes;
        }
        Ok(usage)
    }
}

impl EngineSandbox {
    async fn freeze(&self, frozen: bool) -> Result<()> {
        let Some(cgroups) = self.shared.cgroups.clone() else {
            return Err(BackendError::Invalid(
                "pausing needs control groups, which this engine runs without".into(),
            ));
        };
        self.set_frozen(cgroups, frozen).await?;
        self.paused.store(frozen, Ordering::Release);
        self.stands_still(frozen);
        Ok(())
    }

    async fn set_frozen(&self, cgroups: Arc<Cgroups>, frozen: bool) -> Result<()> {
        let id = self.volume.id.clone();
        let done = blocking(move || cgroups.freeze(id.as_str(), frozen)).await?;
        done.map_err(|error| BackendError::Engine(error.to_string()))
    }

    /// Until [`Self::let_go`]. False: it stands still anyway, or cannot be made to.
    pub(crate) async fn hold_still(&self) -> Result<bool> {
        let Some(cgroups) = self.shared.cgroups.clone() else { return Ok(false) };
        if self.is_paused_now() || !self.is_alive() {
            return Ok(false);
        }
        self.held_still.store(true, Ordering::Release);
        self.stands_still(true);
        if let Err(error) = self.set_frozen(Arc::clone(&cgroups), true).await {
            self.let_go().await;
            return Err(error);
        }
        // The kernel freezes each process when it next can. One that waits for a disk may take its time.
        let until = Instant::now() + FREEZES_WITHIN;
        while Instant::now() < until && matches!(cgroups.is_frozen(self.volume.id.as_str()), Ok(false)) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        Ok(true)
    }

    pub(crate) async fn let_go(&self) {
        if let Some(cgroups) = self.shared.cgroups.clone()
            && let Err(error) = self.set_frozen(cgroups, false).await
            && !self.is_stopped()
        {
            tracing::error!(sandbox = %self.volume.id, %error, "a sandbox stays frozen after it was copied");
        }
        self.held_still.store(false, Ordering::Release);
        self.stands_still(false);
    }
}

//! The engine as a whole: how it starts, what it offers as a backend, how it ends.

use std::collections::HashMap;
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use sandgate_core::network::NetworkPolicy;
use sandgate_core::{
    Backend, BackendError, BackendStats, ExecuteRequest, Files, NetworkBy, Outcome, Result, Sandbox,
    SandboxId, SandboxSpec,
};
use sandgate_jail::cgroup::Cgroups;
use sandgate_jail::{Layers, landlock_abi, sys};
use tokio_util::task::TaskTracker;

use crate::StartError;
use crate::files::VolumeFiles;
use crate::helper::{Helper, Setup, runtime_mounts};
use crate::ids::IdRange;
use crate::instance::{Instance, lock_containers};
use crate::network::{Network, NetworkConfig};
use crate::pool::{Pool, make_cold};
use crate::runtime::{Progress, PythonRuntime, prepare};
use crate::sandbox::EngineSandbox;
use crate::shared::{Shared, blocking, watch_disks};
use crate::volume::Volumes;
use crate::zygote::Preload;
use crate::zygotes::Zygotes;
use crate::{copies, kernel_files, runtime};

#[derive(Clone, Debug)]
pub struct EngineConfig {
    pub home: PathBuf,
    /// This program, which also plays the helper roles.
    pub helper: PathBuf,
    pub preload: Preload,
    /// Sandboxes kept ready with a kernel in them.
    pub pool: usize,
    /// Sandboxes kept ready without one, behind those: half the way, at a twentieth of the memory.
    pub shells: usize,
    /// Sandboxes and their files go with the engine.
    pub ephemeral: bool,
    pub limits_by: LimitsBy,
    /// What sandboxes are made like ahead of being asked for: the limits most requests will have.
    pub usual: SandboxSpec,
    /// None: sandboxes cannot be given a network.
    pub network: Option<NetworkConfig>,
    /// All of them, except in the test that takes each away once.
    pub layers: Layers,
}

impl EngineConfig {
    /// For one command: nothing kept ready, nothing left behind.
    #[must_use]
    pub fn new(home: PathBuf, helper: PathBuf) -> Self {
        Self {
            home,
            helper,
            preload: Preload::Lean,
            pool: 0,
            shells: 0,
            ephemeral: true,
            limits_by: LimitsBy::Cgroups,
            usual: SandboxSpec::default(),
            network: Some(NetworkConfig::default()),
            layers: Layers::ALL,
        }
    }
}

/// What keeps memory, process and processor limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitsBy {
    /// Control groups, for the whole sandbox. The engine does not start without them.
    Cgroups,
    /// Per process, by resource limits: weaker, and only when the operator asked for it.
    Rlimits,
}

/// The running engine.
#[derive(Debug)]
pub struct Engine {
    shared: Arc<Shared>,
    pool: Arc<Pool>,
    runtime: PythonRuntime,
    instance: Instance,
    _containers_lock: Option<File>,
}

impl Engine {
    /// Prepares the runtime when it is not there yet, starts the helpers, proves a first sandbox.
    pub async fn start(
        config: EngineConfig,
        progress: &dyn Progress,
    ) -> std::result::Result<Arc<Self>, StartError> {
        // Progress is borrowed, so this part cannot move to a thread of its own; nothing else runs yet.
        let runtime = tokio::task::block_in_place(|| prepare(&config.home.join("runtimes"), progress))?;
        progress.stage("starting the engine");
        let keeps_ready = config.pool + config.shells > 0;
        let engine = tokio::task::block_in_place(|| Self::build(&config, runtime))?;
        let engine = Arc::new(engine);
        if let Err(error) = engine.prove().await {
            engine.shut_down().await;
            return Err(error);
        }
        let pool = Arc::clone(&engine.pool);
        if keeps_ready {
            engine.shared.tasks.spawn(pool.keep_full(Arc::clone(&engine.shared)));
            engine.shared.zygotes.expect_programs(&engine.shared);
        }
        engine.shared.tasks.spawn(watch_disks(Arc::clone(&engine.shared)));
        progress.finish(&engine.runtime.why);
        Ok(engine)
    }

    fn build(config: &EngineConfig, runtime: PythonRuntime) -> std::result::Result<Self, StartError> {
        if config.layers.landlock && landlock_abi() == 0 {
            return Err(StartError::Landlock);
        }
        // A failure here only lowers how many sandboxes fit.
        let _ = sys::raise_open_files();
        let containers_lock = if config.ephemeral { None } else { Some(lock_containers(&config.home)?) };
        let instance = Instance::begin(&config.home)?;
        let cgroups = match config.limits_by {
            LimitsBy::Cgroups => {
                let groups = Cgroups::open(&instance.name).map_err(StartError::Cgroups)?;
                instance.note_groups(&groups)?;
                Some(Arc::new(groups))
            }
            LimitsBy::Rlimits => None,
        };
        match assemble(config, &instance, cgroups.clone(), &runtime) {
            Ok(shared) => Ok(Self {
                shared: Arc::new(shared),
                pool: Pool::new(config.pool, config.shells, config.usual.clone()),
                runtime,
                instance,
                _containers_lock: containers_lock,
            }),
            Err(error) => {
                remove_groups(cgroups.as_deref());
                instance.end();
                Err(error)
            }
        }
    }

    /// A sandbox that answers is worth more than a list of checks.
    async fn prove(&self) -> std::result::Result<(), StartError> {
        let failed = |error: BackendError| StartError::FirstSandbox(error.to_string());
        let sandbox = self.create(SandboxSpec::default()).await.map_err(failed)?;
        let request = ExecuteRequest { code: "6*7".into(), ..ExecuteRequest::default() };
        let outcome =
            Outcome::collect(sandbox.execute(request).await.map_err(failed)?).await.map_err(failed)?;
        let answered = outcome.ending.exit_code() == 0;
        self.delete(sandbox.id()).await.map_err(failed)?;
        if answered { Ok(()) } else { Err(StartError::FirstSandbox(outcome.text)) }
    }

    #[must_use]
    pub fn runtime(&self) -> &PythonRuntime {
        &self.runtime
    }

    /// How many sandboxes wait in the pool.
    #[must_use]
    pub fn pool_ready(&self) -> usize {
        self.pool.ready()
    }

    /// The host's user id behind a file of the sandbox; `path` is below its root, with no slash in front.
    pub(crate) fn host_owner(&self, id: &SandboxId, path: &str) -> Option<u32> {
        use std::os::unix::fs::MetadataExt;
        let volume = self.shared.volumes.find(id).ok()?;
        fs::symlink_metadata(volume.root().join(path)).ok().map(|meta| meta.uid())
    }

    /// What was made ahead is of no use without the processes that hold it.
    fn check_running(&self) -> Result<()> {
        if self.shared.tasks.is_closed() {
            return Err(BackendError::ShuttingDown);
        }
        if !self.shared.helper.is_running() {
            return Err(BackendError::Engine("the helper processes of the engine are gone".to_owned()));
        }
        Ok(())
    }

    async fn hand_out(&self, sandbox: Arc<EngineSandbox>) -> Result<Arc<dyn Sandbox>> {
        // Before anything runs in it: its ports are ours, or it is not handed out.
        if let Err(error) = sandbox.open_network().await {
            sandbox.discard().await;
            return Err(error);
        }
        if let Err(error) = self.shared.volumes.claim(&sandbox.volume) {
            sandbox.discard().await;
            return Err(BackendError::Engine(error.to_string()));
        }
        self.shared.remember(&sandbox);
        Ok(sandbox)
    }
}

/// Everything that sandboxes share, running.
fn assemble(
    config: &EngineConfig,
    instance: &Instance,
    cgroups: Option<Arc<Cgroups>>,
    runtime: &PythonRuntime,
) -> std::result::Result<Shared, StartError> {
    let remembered = (!config.ephemeral).then(|| config.home.join("ids"));
    let (ids, claim) = IdRange::choose(remembered.as_deref())
        .map_err(StartError::file("choose user ids in", &config.home))?;
    let folder = if config.ephemeral { &instance.folder } else { &config.home }.join("sandboxes");
    let volumes = Volumes::open(folder.clone(), ids.clone()).map_err(StartError::file("use", &folder))?;
    let helper = start_helper(config, instance, &volumes, runtime, &ids)?;
    let zygotes = Zygotes::start(&helper, config.preload)?;
    let (tasks, sandboxes) = (TaskTracker::new(), Mutex::new(HashMap::new()));
    let (runtimes, python_version) = (config.home.join("runtimes"), runtime.version.clone());
    let layers = config.layers;
    let network = config.network.clone().map(Network::start).transpose()?;
    Ok(Shared {
        helper,
        zygotes,
        cgroups,
        volumes,
        network,
        layers,
        runtimes,
        python_version,
        tasks,
        sandboxes,
        _ids: claim,
    })
}

fn remove_groups(cgroups: Option<&Cgroups>) {
    if let Some(Err(error)) = cgroups.map(Cgroups::remove_all) {
        tracing::warn!(%error, "control groups could not be removed");
    }
}

fn start_helper(
    config: &EngineConfig,
    instance: &Instance,
    volumes: &Volumes,
    runtime: &runtime::PythonRuntime,
    ids: &IdRange,
) -> std::result::Result<Helper, StartError> {
    let scratch = instance.folder.join("scratch");
    let kernel = instance.folder.join("kernel");
    fs::create_dir(&scratch).map_err(StartError::file("make", &scratch))?;
    fs::set_permissions(&scratch, fs::Permissions::from_mode(0o755))
        .map_err(StartError::file("open up", &scratch))?;
    kernel_files::unpack(&kernel).map_err(StartError::file("write", &kernel))?;
    // Shown whole, so that a language that is added later is seen in sandboxes that run.
    let languages = config.home.join("runtimes").join(runtime::languages::LANGUAGES_FOLDER);
    fs::create_dir_all(&languages).map_err(StartError::file("make", &languages))?;
    fs::set_permissions(&languages, fs::Permissions::from_mode(0o755))
        .map_err(StartError::file("open up", &languages))?;
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let setup = Setup {
        by_root: ids.by_root(),
        layers: config.layers,
        scratch: text(&scratch),
        volumes: text(volumes.folder()),
        mounts: runtime_mounts(runtime, &kernel, &languages),
    };
    Helper::start(&config.helper, &setup, ids)
}

#[async_trait]
impl Backend for Engine {
    fn name(&self) -> &'static str {
        "embedded"
    }

    fn is_healthy(&self) -> bool {
        !self.shared.tasks.is_closed() && self.shared.helper.is_running()
    }

    fn stats(&self) -> BackendStats {
        self.pool.stats()
    }

    fn network(&self, _backend: Option<&str>) -> NetworkBy {
        match &self.shared.network {
            Some(_) => NetworkBy::Policy,
            None => NetworkBy::Backend(NetworkPolicy::disabled()),
        }
    }

    async fn create(&self, spec: SandboxSpec) -> Result<Arc<dyn Sandbox>> {
        self.check_running()?;
        let sandbox = match self.pool.claim(&spec, self.shared.cgroups.is_some()) {
            Some(mut ready) => match ready.adopt(spec) {
                Ok(()) => ready,
                Err(error) => {
                    ready.discard().await;
                    return Err(error);
                }
            },
            None => make_cold(&self.shared, spec).await?,
        };
        self.hand_out(Arc::new(sandbox)).await
    }

    async fn revive(&self, id: &SandboxId, spec: SandboxSpec) -> Result<Arc<dyn Sandbox>> {
        self.check_running()?;
        if let Ok(live) = self.shared.live(id) {
            return Ok(live);
        }
        let volume = self.shared.volumes.find(id).map_err(|_| BackendError::NoSuchSandbox(id.clone()))?;
        let shared = Arc::clone(&self.shared);
        let sandbox =
            blocking(move || EngineSandbox::make(shared, volume, spec, /* revived */ true)).await??;
        let sandbox = Arc::new(sandbox);
        if let Err(error) = sandbox.open_network().await {
            sandbox.end().await?;
            return Err(error);
        }
        self.shared.remember(&sandbox);
        Ok(sandbox)
    }

    async fn copy(&self, from: &SandboxId, spec: &SandboxSpec) -> Result<SandboxId> {
        self.check_running()?;
        let volume = self.shared.volumes.find(from).map_err(|_| BackendError::NoSuchSandbox(from.clone()))?;
        copies::copy(&self.shared, volume, spec.limits.clone()).await
    }

    async fn delete(&self, id: &SandboxId) -> Result<()> {
        if let Some(live) = self.shared.forget(id) {
            live.end().await?;
        }
        let volume = self.shared.volumes.find(id).map_err(|_| BackendError::NoSuchSandbox(id.clone()))?;
        let shared = Arc::clone(&self.shared);
        let removed = blocking(move || shared.volumes.remove(&volume)).await?;
        removed.map_err(|error| {
            BackendError::Engine(format!("files of a sandbox could not be removed: {error}"))
        })
    }

    async fn files(&self, id: &SandboxId, spec: &SandboxSpec) -> Result<Arc<dyn Files>> {
        let volume = self.shared.volumes.find(id).map_err(|_| BackendError::NoSuchSandbox(id.clone()))?;
        let owner = self.shared.volumes.ids().host_user(volume.slot);
        let files =
            VolumeFiles::open(&volume.root(), owner, spec.limits.disk_bytes, spec.limits.disk_entries);
        Ok(Arc::new(files.map_err(|error| BackendError::Engine(error.to_string()))?))
    }

    async fn shut_down(&self) {
        self.shared.tasks.close();
        self.pool.wake();
        // Every process goes with the helper, and runs in progress see their kernels go.
        let shared = Arc::clone(&self.shared);
        let _ = blocking(move || shared.helper.stop()).await;
        self.shared.tasks.wait().await;
        for waiting in self.pool.drain() {
            let shared = Arc::clone(&self.shared);
            let _ = blocking(move || shared.volumes.remove(&waiting.volume)).await;
        }
        let cgroups = self.shared.cgroups.clone();
        let _ = blocking(move || remove_groups(cgroups.as_deref())).await;
        // An ephemeral engine's files are in there too.
        self.instance.end();
    }
}

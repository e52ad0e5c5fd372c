//! Any provider as a backend: the same results as the embedded engine's, whatever the provider's protocol lacks.

mod apart;
mod asleep;
mod breaker;
mod changes;
mod context;
mod contexts;
#[cfg(test)]
pub(crate) mod double;
mod draft;
mod durable;
mod fetch;
mod finish;
mod furnish;
mod gone;
mod kept;
mod kept_files;
mod kept_reading;
mod listen;
mod live_files;
mod look;
mod make;
mod network;
mod outgoing;
mod passing;
mod reaper;
mod record;
mod refusal;
mod restore;
mod run;
mod sandbox;
mod shared;
mod told;
mod trouble;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use sandgate_core::{
    Backend, BackendError, BackendReport, Files, NetworkBy, Result, Sandbox, SandboxId, SandboxSpec,
};
use tokio::task::JoinSet;

use asleep::AsleepFiles;
pub use breaker::BreakerConfig;
use record::Record;
pub use record::Records;
use sandbox::RemoteSandbox;
pub use shared::RemoteConfig;
use shared::{Known, Shared};

use crate::{Capabilities, PlaceId, Provider};

/// For the end of all sandboxes when the gate ends; what is left then, the next start finds.
const LONGEST_END: Duration = Duration::from_secs(8);

#[derive(Debug)]
pub struct RemoteBackend(Arc<Shared>);

impl RemoteBackend {
    /// Finds again what an earlier run of this gate left.
    pub async fn open(provider: Arc<dyn Provider>, config: RemoteConfig) -> Result<Self> {
        let shared = Shared::new(provider, config);
        for (id, record) in shared.records.all().await? {
            if record.backend == shared.name() {
                let place = record.place.as_deref().and_then(|place| PlaceId::parse(place).ok());
                shared.known().insert(id, Known { place, ..Known::default() });
            }
        }
        Ok(Self(Arc::new(shared)))
    }

    /// What the configuration calls it.
    #[must_use]
    pub fn called(&self) -> &str {
        self.0.name()
    }

    #[must_use]
    pub fn kind(&self) -> &'static str {
        self.0.provider.kind()
    }

    #[must_use]
    pub fn capabilities(&self) -> Capabilities {
        self.0.provider.capabilities()
    }

    #[must_use]
    pub fn report(&self) -> BackendReport {
        let (is_available, failures) = (self.0.is_healthy(), self.0.failures());
        BackendReport { name: self.called().to_owned(), is_available, failures }
    }

    /// Whether the sandbox is, or was, on this backend.
    #[must_use]
    pub fn has(&self, id: &SandboxId) -> bool {
        self.0.known().contains_key(id)
    }

    /// Keeps sandboxes alive while the gate is, and removes what nobody knows of; does not end.
    pub async fn keep(&self) {
        reaper::keep(&self.0).await;
    }

    /// Removes what carries the name of this gate and nobody knows of; gives how many.
    pub async fn reap(&self) -> Result<usize> {
        reaper::reap(&self.0).await
    }

    async fn record(&self, id: &SandboxId) -> Result<Record> {
        let record = self.0.records.load(id).await?;
        record.ok_or_else(|| BackendError::NoSuchSandbox(id.clone()))
    }

    fn forget(&self, id: &SandboxId) -> Known {
        self.0.known().remove(id).unwrap_or_default()
    }
}

async fn make(shared: Arc<Shared>, id: SandboxId, spec: SandboxSpec) -> Result<RemoteSandbox> {
    // Before the provider is asked, so that the reaper does not take it for nobody's.
    shared.known().insert(id.clone(), Known { making: true, ..Known::default() });
    let kept = shared.new_kept(&id, &spec.limits);
    let sandbox = RemoteSandbox::new(Arc::clone(&shared), id.clone(), spec, kept, &Record::default());
    if let Err(error) = sandbox.0.make_first().await {
        sandbox.give_back(false).await;
        shared.known().remove(&id);
        shared.records.remove(&id).await?;
        return Err(error);
    }
    sandbox.prepare();
    shared.note(&id, |known| known.live = Some(sandbox.clone()));
    Ok(sandbox)
}

#[async_trait]
impl Backend for RemoteBackend {
    fn name(&self) -> &'static str {
        self.kind()
    }

    fn is_healthy(&self) -> bool {
        self.0.is_healthy()
    }

    fn network(&self, _backend: Option<&str>) -> NetworkBy {
        NetworkBy::Backend(network::own(&self.0.config.network))
    }

    fn decides_memory(&self, _backend: Option<&str>) -> bool {
        self.capabilities().memory_limit
    }

    async fn create(&self, spec: SandboxSpec) -> Result<Arc<dyn Sandbox>> {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let shared = Arc::clone(&self.0);
        // In a task of its own: who stops waiting must not leave a sandbox that nobody knows of.
        tokio::spawn(async move {
            let id = SandboxId::random();
            let made = make(Arc::clone(&shared), id.clone(), spec).await;
            if let Err(Ok(unwanted)) = sender.send(made) {
                unwanted.give_back(false).await;
                shared.known().remove(&id);
                if let Err(error) = shared.records.remove(&id).await {
                    tracing::warn!(sandbox = %id, %error, "the record of a remote sandbox could not be removed");
                }
            }
        });
        let abandoned = |_| BackendError::Engine("making a sandbox was abandoned".to_owned());
        let sandbox = receiver.await.map_err(abandoned)??;
        Ok(Arc::new(sandbox))
    }

    async fn revive(&self, id: &SandboxId, spec: SandboxSpec) -> Result<Arc<dyn Sandbox>> {
        let record = self.record(id).await?;
        let kept = self.0.kept(id, &spec.limits).await?;
        // Until it is known to live: who changes files meanwhile does that in it, or before it is filled.
        let waking = Arc::clone(&kept);
        let _alone = waking.waking.lock().await;
        let sandbox = RemoteSandbox::new(Arc::clone(&self.0), id.clone(), spec, kept, &record);
        let place = record.place.as_deref().and_then(|place| PlaceId::parse(place).ok());
        let attached = match &place {
            Some(place) => sandbox.attach(place).await?,
            None => false,
        };
        if !attached {
            sandbox.0.at().await?;
        }
        self.0.note(id, |known| known.live = Some(sandbox.clone()));
        Ok(Arc::new(sandbox))
    }

    async fn copy(&self, from: &SandboxId, spec: &SandboxSpec) -> Result<SandboxId> {
        self.record(from).await?;
        let live = self.0.known().get(from).and_then(|known| known.live.clone());
        if let Some(live) = live.filter(|live| !live.0.is_paused())
            && let Some(at) = live.0.current().await
        {
            live.0.look(&at).await?;
        }
        let id = SandboxId::random();
        let folder = self.0.records.folder(&id);
        let copied = async {
            self.0.kept(from, &spec.limits).await?.copy_to(&folder).await?;
            let record = Record { backend: self.0.name().to_owned(), ..Record::default() };
            self.0.records.create(&id, &record).await
        };
        if let Err(error) = copied.await {
            self.0.records.remove(&id).await?;
            return Err(error);
        }
        self.0.known().insert(id.clone(), Known::default());
        Ok(id)
    }

    async fn delete(&self, id: &SandboxId) -> Result<()> {
        let record = self.record(id).await?;
        let known = self.forget(id);
        match known.live {
            // Its files go too, and are not fetched for that.
            Some(live) => live.give_back(false).await,
            None => {
                let place = record.place.as_deref().and_then(|place| PlaceId::parse(place).ok());
                if let Some(place) = place
                    && let Err(error) = self.0.ask(self.0.provider.delete(&place)).await
                {
                    // It carries our name: the next round of the reaper takes it.
                    tracing::warn!(sandbox = %id, %error, "a remote sandbox could not be deleted");
                }
            }
        }
        self.0.records.remove(id).await
    }

    async fn files(&self, id: &SandboxId, spec: &SandboxSpec) -> Result<Arc<dyn Files>> {
        self.record(id).await?;
        let kept = self.0.kept(id, &spec.limits).await?;
        Ok(Arc::new(AsleepFiles { shared: Arc::clone(&self.0), id: id.clone(), kept }))
    }

    async fn shut_down(&self) {
        let live: Vec<_> = self.0.known().values().filter_map(|known| known.live.clone()).collect();
        let mut ends = JoinSet::new();
        for sandbox in live {
            ends.spawn(async move { sandbox.give_back(true).await });
        }
        if tokio::time::timeout(LONGEST_END, ends.join_all()).await.is_err() {
            tracing::warn!(backend = self.0.name(), "some remote sandboxes were not deleted in time");
        }
    }
}

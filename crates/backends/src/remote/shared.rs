//! What all sandboxes of one remote backend share: the way to the provider, and what is known of them.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use sandgate_core::{BackendError, Limits, Result, SandboxId, SandboxSpec};
use tokio::sync::Mutex as AsyncMutex;

use super::breaker::{Breaker, BreakerConfig};
use super::furnish::Guess;
use super::kept::{Bounds, Kept};
use super::network;
use super::record::Records;
use super::refusal::{backend_error, unavailable};
use super::sandbox::RemoteSandbox;
use crate::{NetworkWish, PlaceId, Provider, ProviderResult, Wish};

/// Carried by every sandbox, with the id of the gate.
pub(super) const GATE: &str = "sandgate-gate";
/// Carried by every sandbox, with the name of the backend: several may share one account.
pub(super) const BACKEND: &str = "sandgate-backend";
/// Carried by every sandbox, with the gate's own id of it.
pub(super) const SANDBOX: &str = "sandgate-sandbox";

/// One backend of the configuration, whoever the provider is.
#[derive(Clone)]
pub struct RemoteConfig {
    /// What the configuration calls it.
    pub name: String,
    /// How long a sandbox lives at the provider unless the gate, which is alive, moves its end.
    pub life: Duration,
    pub network: NetworkWish,
    /// For every sandbox, below what a request says.
    pub env: Vec<(String, String)>,
    /// Beside what names this gate.
    pub metadata: BTreeMap<String, String>,
    pub breaker: BreakerConfig,
    /// Names this gate, and no other.
    pub gate: String,
    /// The home of this gate.
    pub home: PathBuf,
}

impl fmt::Debug for RemoteConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Values of variables may be secrets.
        f.debug_struct("RemoteConfig").field("name", &self.name).finish_non_exhaustive()
    }
}

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) provider: Arc<dyn Provider>,
    pub(super) config: RemoteConfig,
    pub(super) records: Records,
    /// Whether a new sandbox is likely to be ready at once.
    pub(super) quick: Guess,
    breaker: Breaker,
    kept: Mutex<HashMap<SandboxId, Weak<Kept>>>,
    /// Held while the kept files of a sandbox are opened, which nobody else may change then.
    opening: AsyncMutex<()>,
    known: Mutex<HashMap<SandboxId, Known>>,
}

/// A sandbox that the gate knows of.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// Where it is, as far as that is known.
    pub(super) place: Option<PlaceId>,
    /// While it lives in this run of the gate; it is kept alive at the provider for as long.
    pub(super) live: Option<RemoteSandbox>,
    /// A new one is being made for it.
    pub(super) making: bool,
}

impl Shared {
    pub(super) fn new(provider: Arc<dyn Provider>, config: RemoteConfig) -> Self {
        let (records, breaker) = (Records::new(&config.home), Breaker::new(config.breaker));
        Self {
            provider,
            config,
            records,
            quick: Guess::default(),
            breaker,
            kept: Mutex::default(),
            opening: AsyncMutex::default(),
            known: Mutex::default(),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.config.name
    }

    pub(super) fn is_healthy(&self) -> bool {
        self.breaker.is_closed()
    }

    pub(super) fn failures(&self) -> u64 {
        self.breaker.count()
    }

    /// Asks the provider itself (not one of its sandboxes), unless it is known to be down.
    pub(super) async fn ask<T>(&self, question: impl Future<Output = ProviderResult<T>>) -> Result<T> {
        self.try_ask(question).await?.map_err(|error| self.error(error))
    }

    /// The same for who goes by what the provider says.
    pub(super) async fn try_ask<T>(
        &self,
        question: impl Future<Output = ProviderResult<T>>,
    ) -> Result<ProviderResult<T>> {
        self.breaker.check().map_err(|open| unavailable(self.name(), open.why, open.left))?;
        Ok(self.breaker.heard(question.await))
    }

    /// For who does not ask the provider itself, but a sandbox of its.
    pub(super) fn check_open(&self) -> Result<()> {
        self.breaker.check_without_trying().map_err(|open| unavailable(self.name(), open.why, open.left))
    }

    pub(super) fn error(&self, error: crate::ProviderError) -> BackendError {
        backend_error(self.name(), error)
    }

    pub(super) fn wish(&self, id: &SandboxId, spec: &SandboxSpec) -> Wish {
        let can = self.provider.capabilities();
        let mut metadata = self.config.metadata.clone();
        metadata.extend(self.owned_by_us());
        metadata.insert(SANDBOX.to_owned(), id.to_string());
        let mut env = self.config.env.clone();
        env.retain(|(name, _)| !spec.env.iter().any(|(own, _)| own == name));
        env.extend(spec.env.iter().cloned());
        Wish {
            memory_bytes: can.memory_limit.then_some(spec.limits.memory_bytes),
            cpu_millis: can.cpu_limit.then_some(spec.limits.cpu_millis),
            disk_bytes: can.disk_limit.then_some(spec.limits.disk_bytes),
            network: network::within(&self.config.network, &spec.network),
            life: self.life(),
            env,
            metadata,
        }
    }

    /// What every sandbox of this backend of this gate carries, and nobody else's.
    pub(super) fn owned_by_us(&self) -> BTreeMap<String, String> {
        BTreeMap::from([
            (GATE.to_owned(), self.config.gate.clone()),
            (BACKEND.to_owned(), self.config.name.clone()),
        ])
    }

    /// Within what the provider takes.
    pub(super) fn life(&self) -> Duration {
        let can = self.provider.capabilities();
        let life = self.config.life.max(can.shortest_life);
        can.longest_life.map_or(life, |longest| life.min(longest))
    }

    /// One for each sandbox, however many hold it: two indexes of one folder would overwrite each other.
    pub(super) async fn kept(&self, id: &SandboxId, limits: &Limits) -> Result<Arc<Kept>> {
        let _alone = self.opening.lock().await;
        if let Some(kept) = self.lock_kept().get(id).and_then(Weak::upgrade) {
            return Ok(kept);
        }
        let opened = Kept::open(self.records.folder(id), bounds(limits)).await?;
        Ok(self.hold(id, opened))
    }

    /// The same of a sandbox that is new.
    pub(super) fn new_kept(&self, id: &SandboxId, limits: &Limits) -> Arc<Kept> {
        self.hold(id, Kept::new(self.records.folder(id), bounds(limits)))
    }

    fn hold(&self, id: &SandboxId, kept: Kept) -> Arc<Kept> {
        let kept = Arc::new(kept);
        let mut all = self.lock_kept();
        all.retain(|_, kept| kept.strong_count() > 0);
        all.insert(id.clone(), Arc::downgrade(&kept));
        kept
    }

    fn lock_kept(&self) -> MutexGuard<'_, HashMap<SandboxId, Weak<Kept>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn known(&self) -> MutexGuard<'_, HashMap<SandboxId, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes what is known of a sandbox that is not forgotten.
    pub(super) fn note(&self, id: &SandboxId, change: impl FnOnce(&mut Known)) {
        if let Some(known) = self.known().get_mut(id) {
            change(known);
        }
    }
}

fn bounds(limits: &Limits) -> Bounds {
    Bounds { bytes: limits.disk_bytes, entries: limits.disk_entries }
}

//! One sandbox of ours at a provider. It goes on when the provider loses its own: the next use makes another and
//! puts the kept files there.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::FutureExt;
use sandgate_core::{
    BackendError, ContextId, ContextInfo, ContextSpec, ExecuteRequest, Execution, Files, Inside, Processes,
    Result, Sandbox, SandboxId, SandboxSpec, Usage,
};
use tokio::sync::{Mutex as AsyncMutex, Notify};

use super::changes::Seen;
use super::context::{Context, Folder};
use super::kept::Kept;
use super::live_files::LiveFiles;
use super::record::Record;
use super::restore::Missing;
use super::shared::Shared;
use crate::{Place, PlaceId, PlaceState, ProviderError};

/// For one that an earlier run of this gate made to answer again.
const LONGEST_ATTACH: Duration = Duration::from_secs(120);

#[derive(Clone)]
pub(super) struct RemoteSandbox(pub(super) Arc<Inner>);

pub(super) struct Inner {
    pub(super) id: SandboxId,
    pub(super) shared: Arc<Shared>,
    pub(super) spec: SandboxSpec,
    pub(super) kept: Arc<Kept>,
    /// Where it is now.
    pub(super) current: Arc<AsyncMutex<Current>>,
    pub(super) contexts: Mutex<BTreeMap<ContextId, Arc<Context>>>,
    seen: Mutex<Seen>,
    /// Held while files are fetched or changed from outside, so that what was listed is what is kept.
    pub(super) looking: AsyncMutex<()>,
    /// Held while it is written down, since two at once would write into one another.
    recording: AsyncMutex<()>,
    pub(super) stopped: AtomicBool,
    /// For the one that furnishes it.
    pub(super) ended: Notify,
    /// Frozen at the provider: it does not answer, and is not lost.
    paused: AtomicBool,
    /// How often in a row it did not answer.
    pub(super) strikes: AtomicU32,
    /// The last of the provider's sandboxes whose first interpreter was taken.
    adopted: AtomicU64,
    pub(super) missing: Mutex<Missing>,
    /// Kept files that it did not get.
    pub(super) unrestored: Mutex<BTreeSet<String>>,
}

#[derive(Debug, Default)]
pub(super) struct Current {
    pub(super) place: Option<Arc<dyn Place>>,
    /// Counts the provider's sandboxes that this one has had.
    pub(super) generation: u64,
}

impl Current {
    pub(super) fn at(&self) -> Option<At> {
        let generation = self.generation;
        self.place.clone().map(|place| At { place, generation })
    }
}

/// The provider's sandbox, and which of all it had this is.
#[derive(Clone, Debug)]
pub(super) struct At {
    pub(super) place: Arc<dyn Place>,
    pub(super) generation: u64,
}

impl RemoteSandbox {
    pub(super) fn new(
        shared: Arc<Shared>,
        id: SandboxId,
        spec: SandboxSpec,
        kept: Arc<Kept>,
        record: &Record,
    ) -> Self {
        let contexts = record.contexts.iter().enumerate().filter_map(|(number, record)| {
            let context = Context::recorded(record, number as u64)?;
            Some((context.id.clone(), Arc::new(context)))
        });
        let contexts = Mutex::new(contexts.collect());
        Self(Arc::new(Inner {
            id,
            shared,
            spec,
            kept,
            current: Arc::default(),
            contexts,
            seen: Mutex::default(),
            looking: AsyncMutex::default(),
            recording: AsyncMutex::default(),
            stopped: AtomicBool::new(false),
            ended: Notify::new(),
            paused: AtomicBool::new(false),
            strikes: AtomicU32::new(0),
            adopted: AtomicU64::new(0),
            missing: Mutex::default(),
            unrestored: Mutex::default(),
        }))
    }

    /// Begins the interpreter that most code is for, while that code is still being written.
    pub(super) fn prepare(&self) {
        // Where none is there, one would be made for nothing if only files are wanted.
        if !self.0.shared.provider.capabilities().first_context {
            return;
        }
        let inner = Arc::clone(&self.0);
        tokio::spawn(async move {
            let Ok(context) = inner.meant(&ExecuteRequest::default()) else { return };
            let Some(at) = inner.current().await else { return };
            if let Err(error) = context.interpreter(&inner, &at, Folder::IsThere).await {
                // Whoever needs it hears of it.
                tracing::debug!(sandbox = %inner.id, %error, "an interpreter could not be made ahead");
            }
        });
    }

    /// A place that an earlier run of this gate made; false: it is lost, or will not answer again.
    pub(super) async fn attach(&self, id: &PlaceId) -> Result<bool> {
        let shared = &self.0.shared;
        shared.check_open()?;
        let attached = tokio::time::timeout(LONGEST_ATTACH, shared.provider.attach(id, shared.life())).await;
        let error = match attached {
            Ok(Ok(place)) => return self.attached(place).await,
            Ok(Err(ProviderError::Lost)) => return Ok(false),
            Ok(Err(error)) => Some(error),
            Err(_) => None,
        };
        // What its code has done to it is no outage: the provider itself says how it is.
        let state = match shared.try_ask(shared.provider.state(id)).await? {
            Err(ProviderError::Lost) => return Ok(false),
            state => state.map_err(|error| shared.error(error))?,
        };
        if let Some(error) = error.filter(|_| state != PlaceState::Broken) {
            return Err(shared.error(error));
        }
        tracing::warn!(sandbox = %self.0.id, "a remote sandbox does not answer any more, and is given up");
        self.0.delete(id).await;
        Ok(false)
    }

    async fn attached(&self, place: Arc<dyn Place>) -> Result<bool> {
        self.0.current.lock().await.place = Some(Arc::clone(&place));
        // The reaper would take it for one that nobody knows of, where it was given up as lost before.
        self.0.shared.note(&self.0.id, |known| known.place = Some(place.id().clone()));
        let at = At { place, generation: 0 };
        if let Err(error) = self.0.while_kept_alive(&at, self.0.catch_up(&at)).await {
            // Where it is lost, the next one gets all files.
            return if self.0.current().await.is_some() { Err(error) } else { Ok(false) };
        }
        // What changed while nobody looked is kept now, and is no doing of the next execution.
        match self.0.look(&at).await {
            Ok(looked) => *self.0.lock_seen() = looked.seen,
            Err(error) => tracing::warn!(sandbox = %self.0.id, %error, "a look at the files failed"),
        }
        Ok(self.0.current().await.is_some())
    }

    /// Ends it at the provider; the files stay here, unless they are not wanted any more.
    pub(super) async fn give_back(&self, with_files: bool) {
        let inner = &self.0;
        inner.stopped.store(true, Ordering::Release);
        inner.ended.notify_one();
        // While it is the current one: who changes files meanwhile does that in it, and not only in what is kept.
        let at = inner.current().await;
        // What is paused was looked at before, and does not answer now.
        if let Some(at) = at.as_ref().filter(|_| with_files && !inner.is_paused()) {
            inner.last_look(at).await;
        }
        let mut current = inner.current.lock().await;
        current.place = None;
        inner.shared.note(&inner.id, |known| (known.live, known.place) = (None, None));
        drop(current);
        let Some(at) = at else { return };
        inner.delete(at.place.id()).await;
        inner.record_end().await;
    }

    /// Moves its end at the provider; false where that is still to do.
    pub(super) async fn keep_alive(&self) -> bool {
        if self.0.is_paused() && self.0.shared.provider.capabilities().pause_stops_clock {
            return true;
        }
        // Who is just being made is kept alive by who makes it, and is not waited for.
        let Ok(current) = self.0.current.try_lock() else { return true };
        let (place, generation) = (current.place.clone(), current.generation);
        drop(current);
        let Some(place) = place else { return true };
        let shared = &self.0.shared;
        match shared.try_ask(place.extend(shared.life())).await {
            Ok(Ok(())) => true,
            Ok(Err(ProviderError::Lost)) => {
                self.0.lose(generation).await;
                true
            }
            Ok(Err(error)) => {
                tracing::warn!(sandbox = %self.0.id, %error, "a remote sandbox could not be kept alive");
                false
            }
            // It is known to be down, and was said to be.
            Err(_) => false,
        }
    }
}

impl Inner {
    pub(super) fn lock_seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_paused(&self) -> bool {
        self.paused.load(Ordering::Acquire)
    }

    /// Whether the interpreter that is there from the start may be taken: once in each of the provider's sandboxes,
    /// and never in one that another run of the gate has used.
    pub(super) fn adopt(&self, generation: u64) -> bool {
        self.adopted.fetch_max(generation, Ordering::AcqRel) < generation
    }

    /// Where it is, if it is anywhere.
    pub(super) async fn current(&self) -> Option<At> {
        self.current.lock().await.at()
    }

    /// `place`: where it is from now on.
    pub(super) async fn save_record(&self, place: Option<&str>) -> Result<()> {
        let _alone = self.recording.lock().await;
        let contexts = self.recorded_contexts(place.is_some());
        let (backend, place) = (self.shared.name().to_owned(), place.map(str::to_owned));
        self.shared.records.save(&self.id, &Record { backend, place, contexts }).await
    }
}

#[async_trait]
impl Sandbox for RemoteSandbox {
    fn id(&self) -> &SandboxId {
        &self.0.id
    }

    fn backend(&self) -> Option<&str> {
        Some(self.0.shared.name())
    }

    fn is_alive(&self) -> bool {
        !self.0.stopped.load(Ordering::Acquire)
    }

    async fn create_context(&self, spec: ContextSpec) -> Result<ContextInfo> {
        let language = self.0.language(spec.language.as_deref())?;
        let context = self.0.add_context(spec.id, language, spec.cwd)?;
        Ok(context.info())
    }

    async fn contexts(&self) -> Result<Vec<ContextInfo>> {
        let mut all: Vec<_> = self.0.lock_contexts().values().cloned().collect();
        all.sort_by_key(|context| (context.id != ContextId::default_context(), context.number));
        Ok(all.iter().map(|context| context.info()).collect())
    }

    async fn delete_context(&self, id: &ContextId) -> Result<()> {
        let context = self.0.lock_contexts().remove(id);
        let context = context.ok_or_else(|| BackendError::NoSuchContext(id.clone()))?;
        context.close();
        self.0.end_interpreter(&context).await;
        Ok(())
    }

    async fn restart_context(&self, id: &ContextId) -> Result<()> {
        let context = self.0.context(id)?;
        context.restart();
        self.0.end_interpreter(&context).await;
        Ok(())
    }

    async fn execute(&self, request: ExecuteRequest) -> Result<Execution> {
        let (size, limit) = (request.code.len() as u64, self.0.spec.limits.code_bytes);
        if size > limit {
            return Err(BackendError::CodeTooLarge { size, limit });
        }
        let context = self.0.meant(&request)?;
        let mut turn = Box::pin(context.turn());
        // Asked for once at once: this is where its place in the queue is taken.
        let at_once = (&mut turn).now_or_never();
        super::run::start(Arc::clone(&self.0), context, at_once, turn, request).await
    }

    async fn pause(&self) -> Result<()> {
        let at = self.0.at().await?;
        // While it is frozen nobody reads its files but from what is kept.
        self.0.look(&at).await?;
        self.0.shared.ask(at.place.pause()).await?;
        self.0.paused.store(true, Ordering::Release);
        Ok(())
    }

    async fn resume(&self) -> Result<()> {
        // One that was lost meanwhile is made anew by who uses it, and does not have to be woken.
        if let Some(at) = self.0.current().await {
            match self.0.shared.try_ask(at.place.resume()).await? {
                Err(ProviderError::Lost) => self.0.lose(at.generation).await,
                answer => answer.map_err(|error| self.0.shared.error(error))?,
            }
        }
        self.0.paused.store(false, Ordering::Release);
        Ok(())
    }

    async fn stop(&self) -> Result<()> {
        self.give_back(true).await;
        Ok(())
    }

    fn files(&self) -> Arc<dyn Files> {
        Arc::new(LiveFiles(Arc::clone(&self.0)))
    }

    async fn inside(&self) -> Result<Arc<dyn Inside>> {
        let at = self.0.at().await?;
        self.0.told(&at, at.place.inside().await).await
    }

    async fn processes(&self) -> Result<Arc<dyn Processes>> {
        let at = self.0.at().await?;
        self.0.told(&at, at.place.processes().await).await
    }

    async fn usage(&self) -> Result<Usage> {
        // The provider counts the rest, and tells nobody in the same way.
        Ok(Usage { disk_bytes: self.0.kept.used_bytes(), ..Usage::default() })
    }
}

impl fmt::Debug for RemoteSandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RemoteSandbox").field(&self.0.id).field(&self.0.shared.name()).finish()
    }
}

#[cfg(test)]
#[path = "sandbox_tests.rs"]
mod tests;

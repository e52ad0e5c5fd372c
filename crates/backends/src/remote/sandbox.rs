//! One sandbox of ours at a provider. It goes on when the provider loses its own: the next use makes another and
//! puts the kept files there.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::FutureExt;
use sandgate_core::{
    BackendError, ContextId, ContextInfo, ContextSpec, ExecuteRequest, Execution, Files, Inside, Processes,
    Result, Sandbox, SandboxId, SandboxPath, SandboxSpec, Usage,
};
use tokio::sync::Mutex as AsyncMutex;

use super::changes::Seen;
use super::context::{Context, DEFAULT_LANGUAGE, Interpreted};
use super::kept::{Kept, KeptEntry};
use super::live_files::LiveFiles;
use super::record::{ContextRecord, Record};
use super::shared::Shared;
use crate::{Place, PlaceId, ProviderError, ProviderResult};

/// As deep as a listing of the working folder goes.
const DEPTH: u32 = 64;
/// For the last look at the files of a sandbox that is given back.
const LAST_LOOK: Duration = Duration::from_secs(20);

#[derive(Clone)]
pub(super) struct RemoteSandbox(pub(super) Arc<Inner>);

pub(super) struct Inner {
    pub(super) id: SandboxId,
    pub(super) shared: Arc<Shared>,
    pub(super) spec: SandboxSpec,
    pub(super) kept: Arc<Kept>,
    /// Where it is now.
    current: AsyncMutex<Current>,
    contexts: Mutex<BTreeMap<ContextId, Arc<Context>>>,
    pub(super) seen: Mutex<Seen>,
    /// Held while files are fetched, so that two looks never mix.
    pub(super) looking: AsyncMutex<()>,
    stopped: AtomicBool,
}

#[derive(Debug, Default)]
struct Current {
    place: Option<Arc<dyn Place>>,
    /// Counts the provider's sandboxes that this one has had.
    generation: u64,
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
            current: AsyncMutex::default(),
            contexts,
            seen: Mutex::default(),
            looking: AsyncMutex::default(),
            stopped: AtomicBool::new(false),
        }))
    }

    /// A place that an earlier run of this gate made; None: it is lost.
    pub(super) async fn attach(&self, place: &PlaceId) -> Result<bool> {
        let shared = &self.0.shared;
        match shared.try_ask(shared.provider.attach(place, shared.life())).await? {
            Ok(place) => {
                let mut current = self.0.current.lock().await;
                current.place = Some(Arc::clone(&place));
                drop(current);
                // What changed while nobody looked is kept now, and is no doing of the next execution.
                match self.0.look(&place).await {
                    Ok((seen, _)) => *self.0.lock_seen() = seen,
                    Err(error) => tracing::warn!(sandbox = %self.0.id, %error, "a look at the files failed"),
                }
                Ok(true)
            }
            Err(ProviderError::Lost) => Ok(false),
            Err(error) => Err(shared.error(error)),
        }
    }

    /// Ends it at the provider; the files stay here.
    pub(super) async fn give_back(&self) {
        let inner = &self.0;
        inner.stopped.store(true, Ordering::Release);
        let place = inner.current.lock().await.place.take();
        inner.shared.note(&inner.id, |known| (known.live, known.place) = (None, None));
        let Some(place) = place else { return };
        match tokio::time::timeout(LAST_LOOK, inner.look(&place)).await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => tracing::warn!(sandbox = %inner.id, %error, "the last files were not fetched"),
            Err(_) => tracing::warn!(sandbox = %inner.id, "the last files took too long to fetch"),
        }
        if let Err(error) = inner.shared.provider.delete(place.id()).await {
            // It carries our name: the next round of the reaper takes it.
            tracing::warn!(sandbox = %inner.id, %error, "a remote sandbox could not be deleted");
        }
        if let Err(error) = inner.save_record(None).await {
            tracing::warn!(sandbox = %inner.id, %error, "the end of a remote sandbox could not be recorded");
        }
    }

    /// Moves its end at the provider; false where that is still to do.
    pub(super) async fn keep_alive(&self) -> bool {
        // Who is just being made has all its time before it, and is not waited for.
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

    fn lock_contexts(&self) -> MutexGuard<'_, BTreeMap<ContextId, Arc<Context>>> {
        self.contexts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn working_dir(&self) -> &str {
        self.spec.working_dir.as_deref().unwrap_or(SandboxPath::WORKING_DIR)
    }

    /// Where it is, if it is anywhere.
    pub(super) async fn current(&self) -> Option<At> {
        let current = self.current.lock().await;
        let generation = current.generation;
        current.place.clone().map(|place| At { place, generation })
    }

    /// Where it is; made now if it is nowhere, with the files that were kept.
    pub(super) async fn at(&self) -> Result<At> {
        let mut current = self.current.lock().await;
        if let Some(place) = &current.place {
            return Ok(At { place: Arc::clone(place), generation: current.generation });
        }
        if self.stopped.load(Ordering::Acquire) {
            return Err(BackendError::NoSuchSandbox(self.id.clone()));
        }
        let wish = self.shared.wish(&self.id, &self.spec);
        self.shared.note(&self.id, |known| known.making = true);
        let made = self.shared.ask(self.shared.provider.create(&wish)).await;
        if let Ok(place) = &made {
            let place = place.id().clone();
            self.shared.note(&self.id, |known| known.place = Some(place));
        }
        self.shared.note(&self.id, |known| known.making = false);
        let place = made?;
        if let Err(error) = self.fill(&place).await {
            // Half of its files is worse than none: it goes, and who asks again gets another.
            if let Err(error) = self.shared.provider.delete(place.id()).await {
                tracing::warn!(sandbox = %self.id, %error, "a remote sandbox could not be deleted");
            }
            self.shared.note(&self.id, |known| known.place = None);
            return Err(error);
        }
        // Those of the sandbox before are gone with it.
        for context in self.lock_contexts().values() {
            context.take_interpreter();
        }
        current.generation += 1;
        current.place = Some(Arc::clone(&place));
        let generation = current.generation;
        drop(current);
        self.save_record(Some(place.id().as_str())).await?;
        Ok(At { place, generation })
    }

    /// Puts the kept files into a new sandbox.
    async fn fill(&self, place: &Arc<dyn Place>) -> Result<()> {
        let mut times = BTreeMap::new();
        let mut seen = Seen::default();
        for (path, entry) in self.kept.all().await {
            match entry {
                KeptEntry::Folder { .. } => self.told(place.make_dir(&path).await)?,
                KeptEntry::File { .. } => {
                    let (file, size) = self.kept.read_whole(&path).await?;
                    self.told(place.write(&path, Box::new(file), size).await)?;
                    let entry = self.told(place.stat(&path).await)?;
                    times.insert(path, entry.modified_ms);
                    seen.put(&entry);
                }
            }
        }
        if !times.is_empty() {
            self.kept.set_modified(&times).await?;
        }
        *self.lock_seen() = seen;
        Ok(())
    }

    /// What the provider said counts for its switch, and is said in the words of all backends.
    pub(super) fn told<T>(&self, answer: ProviderResult<T>) -> Result<T> {
        self.shared.heard(answer).map_err(|error| self.shared.error(error))
    }

    /// The provider does not have it any more.
    pub(super) async fn lose(&self, generation: u64) {
        let mut current = self.current.lock().await;
        if current.generation == generation && current.place.take().is_some() {
            tracing::warn!(sandbox = %self.id, backend = self.shared.name(), "the provider lost a sandbox");
            self.shared.note(&self.id, |known| known.place = None);
        }
    }

    /// An interpreter that cannot be stopped in any other way goes with its sandbox.
    pub(super) async fn abandon(&self, at: &At) {
        self.lose(at.generation).await;
        if let Err(error) = self.shared.provider.delete(at.place.id()).await {
            tracing::warn!(sandbox = %self.id, %error, "a remote sandbox could not be deleted");
        }
    }

    /// `place`: where it is from now on.
    pub(super) async fn save_record(&self, place: Option<&str>) -> Result<()> {
        let contexts: Vec<_> = self.lock_contexts().values().cloned().collect();
        let mut contexts: Vec<(u64, ContextRecord)> =
            contexts.iter().map(|context| (context.number, context.record(place.is_some()))).collect();
        contexts.sort_by_key(|(number, _)| *number);
        let contexts = contexts.into_iter().map(|(_, record)| record).collect();
        let (backend, place) = (self.shared.name().to_owned(), place.map(str::to_owned));
        self.shared.records.save(&self.id, &Record { backend, place, contexts }).await
    }

    /// Looks at the working folder, and fetches what is not kept yet. Gives also what did not fit.
    pub(super) async fn look(&self, place: &Arc<dyn Place>) -> Result<(Seen, Vec<String>)> {
        let _alone = self.looking.lock().await;
        let most = usize::try_from(self.spec.limits.disk_entries).unwrap_or(usize::MAX);
        let folder = SandboxPath::WORKING_DIR;
        let gathered = self.told(place.list(folder, DEPTH, most).await)?;
        let left_out = super::fetch::fetch(&self.kept, place, &gathered).await?;
        Ok((Seen::of(&gathered.entries), left_out))
    }

    fn context(&self, id: &ContextId) -> Result<Arc<Context>> {
        self.lock_contexts().get(id).cloned().ok_or_else(|| BackendError::NoSuchContext(id.clone()))
    }

    fn language(&self, asked: Option<&str>) -> Result<String> {
        let there = self.shared.provider.capabilities().languages;
        let language = asked.unwrap_or(DEFAULT_LANGUAGE);
        if there.contains(&language) {
            return Ok(language.to_owned());
        }
        Err(BackendError::NoSuchLanguage { language: language.to_owned(), available: there.join(", ") })
    }

    fn add_context(
        &self,
        id: Option<ContextId>,
        language: String,
        cwd: Option<String>,
    ) -> Result<Arc<Context>> {
        let mut contexts = self.lock_contexts();
        let id = match id {
            Some(id) if contexts.contains_key(&id) => return Err(BackendError::ContextExists(id)),
            Some(id) => id,
            None => ContextId::parse(&format!("ctx_{}", sandgate_core::random_hex(8)))?,
        };
        if !self.shared.provider.capabilities().contexts && !contexts.is_empty() {
            return Err(BackendError::Unsupported("a second context"));
        }
        let limit = self.spec.limits.contexts;
        if contexts.len() >= limit as usize {
            return Err(BackendError::TooManyContexts { limit });
        }
        let number = contexts.values().map(|context| context.number + 1).max().unwrap_or_default();
        let cwd = cwd.unwrap_or_else(|| self.working_dir().to_owned());
        let context = Arc::new(Context::new(id.clone(), language, cwd, number));
        contexts.insert(id, Arc::clone(&context));
        Ok(context)
    }

    /// The one that a request means.
    fn meant(&self, request: &ExecuteRequest) -> Result<Arc<Context>> {
        if let Some(id) = &request.context
            && *id != ContextId::default_context()
        {
            let context = self.context(id)?;
            return match &request.language {
                Some(language) if *language != context.language => Err(BackendError::Invalid(format!(
                    "context '{id}' runs {}, not {language}",
                    context.language
                ))),
                _ => Ok(context),
            };
        }
        let language = self.language(request.language.as_deref())?;
        let id = if language == DEFAULT_LANGUAGE {
            ContextId::default_context()
        } else {
            ContextId::parse(&format!("default-{language}"))?
        };
        match self.context(&id) {
            Ok(context) => Ok(context),
            Err(_) => self.add_context(Some(id), language, None),
        }
    }

    /// Ends the interpreter of a context. What runs in it is stopped.
    async fn end_interpreter(&self, context: &Context) {
        let Some(Interpreted { remote, generation, .. }) = context.take_interpreter() else { return };
        let Some(at) = self.current().await.filter(|at| at.generation == generation) else { return };
        let ended = match &remote {
            Some(id) => at.place.delete_context(id).await,
            None => at.place.interrupt(None).await,
        };
        if let Err(error) = ended {
            tracing::debug!(sandbox = %self.id, %error, "a context could not be ended at the provider");
        }
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
        self.0.told(at.place.pause().await)
    }

    async fn resume(&self) -> Result<()> {
        let at = self.0.at().await?;
        match self.0.shared.heard(at.place.resume().await) {
            Err(ProviderError::Lost) => {
                self.0.lose(at.generation).await;
                Ok(())
            }
            answer => answer.map_err(|error| self.0.shared.error(error)),
        }
    }

    async fn stop(&self) -> Result<()> {
        self.give_back().await;
        Ok(())
    }

    fn files(&self) -> Arc<dyn Files> {
        Arc::new(LiveFiles(Arc::clone(&self.0)))
    }

    async fn inside(&self) -> Result<Arc<dyn Inside>> {
        let at = self.0.at().await?;
        self.0.told(at.place.inside().await)
    }

    async fn processes(&self) -> Result<Arc<dyn Processes>> {
        let at = self.0.at().await?;
        self.0.told(at.place.processes().await)
    }

    async fn usage(&self) -> Result<Usage> {
        // The provider counts the rest, and tells nobody in the same way.
        Ok(Usage { disk_bytes: self.0.kept.used_bytes().await, ..Usage::default() })
    }
}

impl fmt::Debug for RemoteSandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RemoteSandbox").field(&self.0.id).field(&self.0.shared.name()).finish()
    }
}

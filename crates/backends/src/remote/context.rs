//! One context of a remote sandbox: a queue of one execution at a time over an interpreter at the provider,
//! which may be another one the next time.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sandgate_core::{ContextId, ContextInfo, SandboxPath};
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

use super::record::ContextRecord;
use super::sandbox::{At, Inner};
use super::told::{Channel, KEEP_QUOTES, change_dir, check_folder};
use crate::{ContextWish, ProviderError, ProviderResult, Run, RunEnd, Said};

pub(super) const DEFAULT_LANGUAGE: &str = "python";
/// For the few lines that an interpreter is taught.
const SETUP_TIME: Duration = Duration::from_secs(60);
const SETUP_OUTPUT: u64 = 1 << 20;

#[derive(Debug)]
pub(super) struct Context {
    pub(super) id: ContextId,
    pub(super) language: String,
    cwd: String,
    /// Its place among the contexts of its sandbox, by age.
    pub(super) number: u64,
    turn: Arc<AsyncMutex<Slot>>,
    interpreter: Mutex<Option<Interpreted>>,
    /// Held while one is made: it may be made ahead, while the code is still being written.
    making: AsyncMutex<()>,
    pub(super) busy: AtomicBool,
    used: AtomicBool,
    closed: AtomicBool,
    restarts: AtomicU64,
}

/// Whether an interpreter is new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Novelty {
    /// It has run code before, or will not be missed.
    Same,
    First,
    /// Variables are gone with an earlier one.
    Again,
}

/// What only the execution whose turn it is sees.
#[derive(Debug, Default)]
pub(super) struct Slot {
    /// The number of the interpreter's last execution.
    pub(super) count: u64,
    /// What the interpreter itself called it, with those that taught it.
    pub(super) told: u64,
    /// Of the context's, those that this slot has followed.
    pub(super) restarts: u64,
}

/// What is known of the working folder when an interpreter is begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Folder {
    IsThere,
    /// The interpreter looks, and fails if it cannot write there.
    Perhaps,
}

impl Folder {
    fn checked(self) -> String {
        match self {
            Self::IsThere => String::new(),
            Self::Perhaps => check_folder(SandboxPath::WORKING_DIR),
        }
    }
}

pub(super) type Turn = OwnedMutexGuard<Slot>;

/// An interpreter at the provider.
#[derive(Clone, Debug)]
pub(super) struct Interpreted {
    /// None: the provider's own default.
    pub(super) remote: Option<String>,
    /// Which of the provider's sandboxes it is in.
    pub(super) generation: u64,
    /// What it was taught to tell by.
    pub(super) channel: Option<Channel>,
    /// So many runs were the gate's own.
    pub(super) taught: u64,
    /// No code of a client's ran in it yet.
    is_fresh: bool,
}

impl Context {
    pub(super) fn new(id: ContextId, language: String, cwd: String, number: u64) -> Self {
        Self {
            id,
            language,
            cwd,
            number,
            turn: Arc::default(),
            interpreter: Mutex::default(),
            making: AsyncMutex::default(),
            busy: AtomicBool::new(false),
            used: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            restarts: AtomicU64::new(0),
        }
    }

    /// As an earlier run of the gate left it.
    pub(super) fn recorded(record: &ContextRecord, number: u64) -> Option<Self> {
        let id = ContextId::parse(&record.id).ok()?;
        let context = Self::new(id, record.language.clone(), record.cwd.clone(), number);
        context.used.store(record.used, Ordering::Release);
        if record.used && (record.remote.is_some() || record.token.is_some()) {
            let channel = record.token.as_deref().map(Channel::with);
            // Zero: the sandbox that the record names, if it is still there.
            let (remote, taught) = (record.remote.clone(), record.taught);
            *context.lock() = Some(Interpreted { remote, generation: 0, channel, taught, is_fresh: false });
        }
        Some(context)
    }

    pub(super) fn record(&self, with_interpreter: bool) -> ContextRecord {
        let interpreter = self.lock().clone().filter(|_| with_interpreter);
        ContextRecord {
            id: self.id.to_string(),
            language: self.language.clone(),
            cwd: self.cwd.clone(),
            remote: interpreter.as_ref().and_then(|found| found.remote.clone()),
            taught: interpreter.as_ref().map(|found| found.taught).unwrap_or_default(),
            token: interpreter.and_then(|found| found.channel).map(|channel| channel.token().to_owned()),
            used: self.used.load(Ordering::Acquire),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Interpreted>> {
        self.interpreter.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn turn(&self) -> impl Future<Output = Turn> + use<> {
        Arc::clone(&self.turn).lock_owned()
    }

    pub(super) fn take_interpreter(&self) -> Option<Interpreted> {
        self.lock().take()
    }

    pub(super) fn info(&self) -> ContextInfo {
        ContextInfo {
            id: self.id.clone(),
            language: self.language.clone(),
            cwd: self.cwd.clone(),
            busy: self.busy.load(Ordering::Acquire),
        }
    }

    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::Release);
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Whoever asks for it knows that variables are gone.
    pub(super) fn restart(&self) {
        self.restarts.fetch_add(1, Ordering::AcqRel);
        self.used.store(false, Ordering::Release);
    }

    pub(super) fn restarts(&self) -> u64 {
        self.restarts.load(Ordering::Acquire)
    }

    /// From here on there are variables that somebody would miss.
    pub(super) fn set_used(&self) -> bool {
        if let Some(found) = self.lock().as_mut() {
            found.is_fresh = false;
        }
        !self.used.swap(true, Ordering::AcqRel)
    }

    fn novelty(&self, found: &Interpreted) -> Novelty {
        match self.used.load(Ordering::Acquire) {
            _ if !found.is_fresh => Novelty::Same,
            true => Novelty::Again,
            false => Novelty::First,
        }
    }

    /// The interpreter for the next run, made and taught if there is none, and what that means.
    pub(super) async fn interpreter(
        &self,
        inner: &Inner,
        at: &At,
        folder: Folder,
    ) -> ProviderResult<(Interpreted, Novelty)> {
        let _alone = self.making.lock().await;
        let there = self.lock().clone().filter(|found| found.generation == at.generation);
        let found = match there {
            Some(found) => found,
            None => {
                let made = self.make(inner, at, folder).await?;
                *self.lock() = Some(made.clone());
                made
            }
        };
        let novelty = self.novelty(&found);
        Ok((found, novelty))
    }

    async fn make(&self, inner: &Inner, at: &At, folder: Folder) -> ProviderResult<Interpreted> {
        let can = inner.shared.provider.capabilities();
        let is_python = self.language == DEFAULT_LANGUAGE;
        let is_default = is_python && self.id == ContextId::default_context();
        // The one that is there already, once: after that it may be any state.
        let adopts = is_default && can.first_context && inner.adopt(at.generation);
        let has_context = can.contexts && !can.stateless.contains(&self.language.as_str());
        let channel = (is_python && !(can.display && can.last_value)).then(Channel::new);
        let mut code = channel.as_ref().map(|channel| channel.setup(can.interpreter)).unwrap_or_default();
        if is_python && can.strips_quotes {
            code.push_str(KEEP_QUOTES);
        }
        // Where its context cannot say where it works, its first run does; and where there is one anyway, as what a
        // provider makes of a folder differs.
        if is_python && (adopts || !has_context || !code.is_empty()) {
            code.insert_str(0, &(folder.checked() + &change_dir(&self.cwd)));
        }
        let taught = u64::from(!code.is_empty());
        let mut remote = None;
        if adopts {
            // It runs what names no context, so its name need not be known first.
            (remote, ()) = tokio::try_join!(at.place.first_context(), teach(at, None, code))?;
            if remote.is_none() {
                // Some have a name from their first run on.
                remote = at.place.first_context().await?;
            }
        } else {
            if has_context {
                let language = (!is_python).then(|| self.language.clone());
                let wish = ContextWish { language, cwd: Some(self.cwd.clone()) };
                remote = Some(at.place.create_context(&wish).await?);
            }
            teach(at, remote.clone(), code).await?;
        }
        Ok(Interpreted { remote, generation: at.generation, channel, taught, is_fresh: true })
    }
}

async fn teach(at: &At, context: Option<String>, code: String) -> ProviderResult<()> {
    if code.is_empty() {
        return Ok(());
    }
    let run = Run { code, context, timeout: SETUP_TIME, output_bytes: SETUP_OUTPUT, ..Run::default() };
    let mut running = at.place.execute(run).await?;
    let too_slow = || ProviderError::TimedOut { what: "a new interpreter".to_owned(), after: SETUP_TIME };
    loop {
        let said = tokio::time::timeout(SETUP_TIME, running.said.recv()).await.map_err(|_| too_slow())?;
        match said {
            Some(Ok(Said::Ended(RunEnd::Finished))) => return Ok(()),
            Some(Ok(Said::Raised(error))) => {
                return Err(ProviderError::Failed(format!(
                    "a new interpreter could not be set up: {}: {}",
                    error.name, error.value
                )));
            }
            Some(Ok(Said::Ended(RunEnd::TimedOut))) => return Err(too_slow()),
            Some(Ok(Said::Ended(_))) | None => {
                return Err(ProviderError::Failed("a new interpreter ended while it was set up".to_owned()));
            }
            Some(Ok(_)) => {}
            Some(Err(error)) => return Err(error),
        }
    }
}

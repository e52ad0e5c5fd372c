//! One context: an interpreter that comes back after it died, and a queue of one execution at a time.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use sandgate_core::{
    BackendError, CodeError, ContextId, ContextInfo, Ending, Event, ExecuteRequest, Note, Result, Stop,
    human_bytes,
};
use tokio::sync::{Mutex, mpsc, oneshot};

use super::EngineSandbox;
use super::language::Chosen;
use super::run::{Finished, Run, Surroundings};
use crate::frame::Settings;
use crate::kernel::{Kernel, Process};
use crate::runtime::languages::{Edition, Language};

/// Longer than a kernel's rehearsal starts, so that it is not mistaken for having work to do.
const REHEARSAL: Duration = Duration::from_millis(10);

#[derive(Debug)]
pub(super) struct Context {
    id: ContextId,
    pub(super) language: Language,
    /// The runtime it stays with, of those that stand side by side.
    pub(super) edition: Option<Edition>,
    /// Where it works; None: where its sandbox does, which a claim from the pool may still change.
    cwd: Option<String>,
    /// Its place among the contexts of its sandbox, by age.
    pub(super) number: u64,
    /// Locked for the length of an execution.
    slot: Mutex<Slot>,
    busy: AtomicBool,
    /// To end the interpreter while an execution holds the slot.
    process: std::sync::Mutex<Option<Process>>,
    /// Hears of the end of the execution that was asked for last.
    last: std::sync::Mutex<Option<oneshot::Receiver<()>>>,
    /// Nothing runs in it any more.
    closed: AtomicBool,
    /// How often somebody asked for a fresh interpreter.
    restarts: AtomicU64,
}

/// A place in the queue of a context, taken when the execution is asked for.
#[derive(Debug)]
pub(super) struct Turn {
    before: Option<oneshot::Receiver<()>>,
    /// Dropped when this execution is over.
    _over: oneshot::Sender<()>,
}

#[derive(Debug, Default)]
struct Slot {
    kernel: Option<Kernel>,
    /// An interpreter of this context ran code before: the next fresh one must say that variables are gone.
    had_variables: bool,
    /// The number of the interpreter's last execution.
    execution_count: u64,
    /// Of the context's, those that this slot has followed.
    restarts: u64,
    /// The variables of the network as its interpreter was started with them. What came later it is lent for each run,
    /// as being told anew would undo what code has made of its own.
    network: Vec<(String, String)>,
}

impl Slot {
    /// Of the interpreter that is there, or that is started next.
    fn environment<'a>(&mut self, sandbox: &'a EngineSandbox) -> Cow<'a, [(String, String)]> {
        if self.kernel.is_none() {
            self.network = sandbox.network_since(&[]);
        }
        sandbox.environment_under(&self.network)
    }
}

impl Context {
    pub(super) fn new(
        id: ContextId,
        (language, edition): Chosen,
        cwd: Option<String>,
        number: u64,
        had_variables: bool,
    ) -> Self {
        let slot = Mutex::new(Slot { had_variables, ..Slot::default() });
        Self {
            id,
            language,
            edition,
            cwd,
            number,
            slot,
            busy: AtomicBool::new(false),
            process: std::sync::Mutex::default(),
            last: std::sync::Mutex::default(),
            closed: AtomicBool::new(false),
            restarts: AtomicU64::new(0),
        }
    }

    pub(super) fn id(&self) -> &ContextId {
        &self.id
    }

    fn cwd<'a>(&'a self, sandbox: &'a EngineSandbox) -> &'a str {
        self.cwd.as_deref().unwrap_or_else(|| sandbox.working_dir())
    }

    fn settings<'a>(&'a self, sandbox: &'a EngineSandbox, env: &'a [(String, String)]) -> Settings<'a> {
        let language = (self.language != Language::Python).then(|| self.language.name());
        let memory = sandbox.spec.limits.memory_bytes;
        Settings { env, cwd: self.cwd(sandbox), language, runtime: self.edition.map(Edition::name), memory }
    }

    pub(super) fn is_busy(&self) -> bool {
        self.busy.load(Ordering::Acquire)
    }

    pub(super) fn queue_up(&self) -> Turn {
        let (over, hears) = oneshot::channel();
        let before = self.last.lock().unwrap_or_else(std::sync::PoisonError::into_inner).replace(hears);
        Turn { before, _over: over }
    }

    pub(super) fn info(&self, sandbox: &EngineSandbox) -> ContextInfo {
        ContextInfo {
            id: self.id.clone(),
            language: self.language.name().to_owned(),
            cwd: self.cwd(sandbox).to_owned(),
            busy: self.is_busy(),
        }
    }

    /// Starts the interpreter ahead of the first execution.
    pub(super) async fn warm_up(&self, sandbox: &EngineSandbox) -> Result<()> {
        let mut slot = self.slot.lock().await;
        let env = slot.environment(sandbox);
        let kernel = self.kernel(&mut slot, sandbox, None).await?;
        // It rehearses as long as it hears nothing; after that, what most executions will need is told ahead.
        tokio::time::sleep(REHEARSAL).await;
        kernel.configure(self.settings(sandbox, &env)).await
    }

    async fn kernel<'a>(
        &self,
        slot: &'a mut Slot,
        sandbox: &EngineSandbox,
        at_once: Option<Settings<'_>>,
    ) -> Result<&'a mut Kernel> {
        if slot.kernel.is_none() {
            let kernel = sandbox.start_kernel(&self.id, at_once).await?;
            *self.process.lock().unwrap_or_else(std::sync::PoisonError::into_inner) =
                Some(kernel.process.clone());
            slot.kernel = Some(kernel);
            if self.closed.load(Ordering::Acquire) || self.was_restarted(slot) {
                self.end().await;
            }
        }
        slot.kernel.as_mut().ok_or_else(|| BackendError::Engine("no kernel".into()))
    }

    /// Runs code to its end and sends every event; the last one is always [`Event::Done`].
    pub(super) async fn execute(
        &self,
        sandbox: &EngineSandbox,
        mut turn: Turn,
        request: ExecuteRequest,
        events: mpsc::Sender<Event>,
        mut stops: mpsc::UnboundedReceiver<Stop>,
    ) {
        let before = turn.before.take();
        let in_turn = async {
            if let Some(before) = before {
                let _ = before.await;
            }
            self.slot.lock().await
        };
        let mut slot = tokio::select! {
            slot = in_turn => slot,
            // Nobody waits for the answer any more: do not even start.
            () = events.closed() => return,
            Some(_) = stops.recv() => return never_ran(&events, "the code was stopped before its turn came").await,
        };
        if self.closed.load(Ordering::Acquire) {
            return never_ran(&events, ENDED).await;
        }
        self.busy.store(true, Ordering::Release);
        let started = Instant::now();
        let finished = self.run(&mut slot, sandbox, request, &events, &mut stops).await;
        let mut finished = finished.unwrap_or_else(|error| {
            tracing::warn!(sandbox = %sandbox.volume.id, %error, "an execution failed in the engine");
            let text = format!("the sandbox failed: {error}");
            Finished {
                ending: Ending::Signalled { signal: libc::SIGKILL },
                text,
                execution_count: 0,
                kernel_lost: true,
            }
        });
        if finished.kernel_lost {
            slot.kernel = None;
            if self.closed.load(Ordering::Acquire) {
                (finished.ending, finished.text) = (Ending::Interrupted, ENDED.to_owned());
            } else if self.was_restarted(&slot) {
                (finished.ending, finished.text) = (Ending::Interrupted, RESTARTED.to_owned());
                let (name, value) = ("ContextRestarting".to_owned(), RESTARTED.to_owned());
                let _ = events.send(Event::Error(CodeError { name, value, traceback: Vec::new() })).await;
            }
        }
        slot.execution_count = finished.execution_count;
        sandbox.tell_what_changed(&events).await;
        self.busy.store(false, Ordering::Release);
        drop(slot);
        drop(turn);
        let duration_ms = started.elapsed().as_secs_f64() * 1000.0;
        let Finished { ending, text, execution_count, .. } = finished;
        let _ = events.send(Event::Done { ending, text, execution_count, duration_ms }).await;
    }

    async fn run(
        &self,
        slot: &mut Slot,
        sandbox: &EngineSandbox,
        mut request: ExecuteRequest,
        events: &mpsc::Sender<Event>,
        stops: &mut mpsc::UnboundedReceiver<Stop>,
    ) -> Result<Finished> {
        sandbox.overlook_changes_from_outside().await;
        // One that died while nothing ran is replaced, not met as a failure of this run.
        let died = slot.kernel.as_mut().is_some_and(Kernel::has_ended);
        if died {
            slot.kernel = None;
            self.end().await;
        }
        self.follow_restarts(slot);
        if slot.kernel.is_none() {
            slot.execution_count = 0;
        }
        if request.with_chart_data {
            let _ = events.send(Event::Started { execution_count: slot.execution_count + 1 }).await;
        }
        if slot.kernel.is_none() && slot.had_variables {
            let why = if died { "the interpreter had died and is new" } else { "the interpreter is new" };
            let text = format!("{why}: variables of earlier executions are gone, files are still there");
            let _ = events.send(Event::Note { note: Note::FreshKernel, text }).await;
        }
        let env = slot.environment(sandbox);
        let settings = self.settings(sandbox, &env);
        let lent = sandbox.network_since(&slot.network);
        request.env.splice(..0, lent);
        let kernel = self.kernel(slot, sandbox, Some(settings)).await?;
        kernel.configure(settings).await?;
        let full = sandbox.over_limit(sandbox.seen().files.usage);
        kernel.allow_writing(if full { 0 } else { sandbox.spec.limits.disk_bytes });
        if full {
            let text = sandbox.disk_is_full();
            let _ = events.send(Event::Note { note: Note::DiskFull, text }).await;
        }
        let wall = sandbox.spec.limits.wall;
        let timeout = request.timeout.map_or(wall, |asked| asked.min(wall));
        let run = Run::new(kernel, &sandbox.spec.limits, timeout, events, stops);
        let finished = run.go(&request, sandbox).await;
        slot.had_variables = true;
        if finished.is_err() {
            slot.kernel = None;
            self.end().await;
        }
        finished
    }

    /// From here on it runs nothing, also not what is queued.
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::Release);
    }

    /// Has the next execution find a fresh interpreter, and ends the one under way.
    pub(super) async fn restart(&self) {
        self.restarts.fetch_add(1, Ordering::AcqRel);
        self.end().await;
        // What is under way lets go of its interpreter itself.
        if let Ok(mut slot) = self.slot.try_lock() {
            self.follow_restarts(&mut slot);
        }
    }

    fn was_restarted(&self, slot: &Slot) -> bool {
        self.restarts.load(Ordering::Acquire) != slot.restarts
    }

    /// Whoever asked for it knows that variables are gone.
    fn follow_restarts(&self, slot: &mut Slot) {
        let restarts = self.restarts.load(Ordering::Acquire);
        if restarts != slot.restarts {
            (slot.kernel, slot.had_variables, slot.restarts) = (None, false, restarts);
        }
    }

    /// Ends the interpreter and whatever it started, also in the middle of a run.
    pub(super) async fn end(&self) {
        let process = self.process.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        if let Some(process) = process {
            let _ = tokio::task::spawn_blocking(move || process.kill()).await;
        }
    }
}

const ENDED: &str = "the context was ended, and its code with it";
const RESTARTED: &str = "the context was restarted, and its code was ended with it";

async fn never_ran(events: &mpsc::Sender<Event>, why: &str) {
    let (ending, text) = (Ending::Interrupted, why.to_owned());
    let _ = events.send(Event::Done { ending, text, execution_count: 0, duration_ms: 0.0 }).await;
}

impl Surroundings for EngineSandbox {
    async fn disk_is_over(&self) -> bool {
        let Ok(now) = self.disk_with_removed().await else { return false };
        // A sandbox that is over the limit already may still run code that makes room.
        let before = self.seen().files.usage;
        self.over_limit(now) && (now.bytes > before.bytes || now.entries > before.entries)
    }

    fn is_paused(&self) -> bool {
        self.paused.load(Ordering::Acquire) || self.held_still.load(Ordering::Acquire)
    }

    async fn killed_for_memory(&self) -> bool {
        let now = self.group_events();
        let mut seen = self.seen();
        let killed = now.killed_for_memory > seen.events.killed_for_memory;
        seen.events.killed_for_memory = now.killed_for_memory;
        killed
    }
}

impl EngineSandbox {
    /// What came in through the files API since the last execution is not the next one's doing.
    async fn overlook_changes_from_outside(&self) {
        let alone = self.lock_contexts().values().filter(|context| context.is_busy()).count() <= 1;
        // Beside another execution it is left to be told: what that one does must not be missed.
        if alone
            && self.files.take_changed()
            && let Ok(now) = self.disk().await
        {
            self.seen().files = now;
        }
    }

    fn disk_is_full(&self) -> String {
        let (bytes, entries) = (human_bytes(self.spec.limits.disk_bytes), self.spec.limits.disk_entries);
        format!(
            "the disk limit of {bytes} or {entries} files is passed; nothing can be written until files are removed"
        )
    }

    /// Whether there is more than PID 1 and idle interpreters.
    fn something_runs(&self) -> bool {
        let idle = 1 + self.lock_contexts().len() as u64 + self.agent.count();
        let count =
            self.shared.cgroups.as_ref().and_then(|groups| groups.count(self.volume.id.as_str()).ok());
        count.is_none_or(|count| count > idle)
    }

    /// Ends what goes on writing past the limit while no execution is there to be ended for it.
    pub(crate) async fn watch_disk_while_idle(&self) {
        let busy = self.lock_contexts().values().any(|context| context.is_busy());
        if !busy && self.something_runs() && self.disk_is_over().await {
            tracing::warn!(sandbox = %self.volume.id, "background processes passed the disk limit and were ended");
            self.end_agent("the disk limit was passed, and all commands were ended").await;
            let contexts: Vec<_> = self.lock_contexts().values().cloned().collect();
            for context in contexts {
                context.end().await;
            }
            if let Ok(now) = self.disk().await {
                self.seen().files = now;
            }
        }
    }

    /// What the execution did besides printing: files, and limits that it hit without dying of them.
    async fn tell_what_changed(&self, events: &mpsc::Sender<Event>) {
        let Ok(now) = self.disk().await else { return };
        let groups = self.group_events();
        let mut told = Vec::new();
        {
            let mut seen = self.seen();
            let (changes, more) = seen.files.changes(&now);
            if !changes.is_empty() {
                told.push(Event::Files { changes });
            }
            if more {
                let text = "more files changed than are listed".to_owned();
                told.push(Event::Note { note: Note::FilesTrimmed, text });
            }
            if groups.killed_for_memory > seen.events.killed_for_memory {
                let limit = human_bytes(self.spec.limits.memory_bytes);
                let text = format!("a child process was killed: the memory limit of {limit} was reached");
                told.push(Event::Note { note: Note::ChildKilledForMemory, text });
            }
            if groups.refused_processes > seen.events.refused_processes {
                let text = format!(
                    "new processes or threads were refused: the limit of {} was reached",
                    self.spec.limits.processes
                );
                told.push(Event::Note { note: Note::ProcessesRefused, text });
            }
            let grown =
                now.usage.bytes > seen.files.usage.bytes || now.usage.entries > seen.files.usage.entries;
            if grown && self.over_limit(now.usage) {
                told.push(Event::Note { note: Note::DiskFull, text: self.disk_is_full() });
            }
            seen.files = now;
            seen.events = groups;
        }
        for event in told {
            let _ = events.send(event).await;
        }
    }
}

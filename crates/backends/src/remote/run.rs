//! One execution on a remote sandbox: waits for its turn, starts it at the provider, passes on what it says
//! within the limits, stops it when it must stop, and tells how it ended.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use sandgate_core::{
    BackendError, CodeError, Ending, Event, ExecuteRequest, Execution, ExecutionHandle, Note, Result, Stop,
    human_bytes,
};
use tokio::sync::{mpsc, oneshot};

use super::context::{Context, Interpreted, Novelty, Turn};
use super::listen::{Finished, Listening};
use super::sandbox::{At, Inner};
use super::told::wrapped;
use crate::{Interpreter, ProviderError, Run, Running};

/// Events that wait for a slow reader before the run is slowed down.
const EVENTS: usize = 64;
/// So many names are told of files that are not kept.
const NAMED: usize = 5;
const ENDED: &str = "the context was ended, and its code with it";
const RESTARTED: &str = "the context was restarted, and its code was ended with it";

/// A run that the provider has begun.
pub(super) struct Opened {
    pub(super) at: At,
    pub(super) interpreter: Interpreted,
    pub(super) running: Running,
    is_new: bool,
    /// Variables of earlier executions are gone, and why.
    fresh: Option<String>,
}

/// An error here means that nothing ran. Somebody who is not first in the queue hears of it in the events.
pub(super) async fn start(
    inner: Arc<Inner>,
    context: Arc<Context>,
    at_once: Option<Turn>,
    later: Pin<Box<impl Future<Output = Turn> + Send + 'static>>,
    request: ExecuteRequest,
) -> Result<Execution> {
    let (sender, events) = mpsc::channel(EVENTS);
    let (handle, stops) = ExecutionHandle::new();
    let (started, has_started) = oneshot::channel();
    // In a task of its own: who stops waiting must not leave code running that nobody knows of.
    tokio::spawn(async move {
        let mut stops = stops;
        let mut started = Some(started);
        let turn = match at_once {
            Some(turn) => turn,
            None => {
                let _ = started.take().map(|started| started.send(Ok(())));
                tokio::select! {
                    turn = later => turn,
                    () = sender.closed() => return,
                    Some(_) = stops.recv() => {
                        return never_ran(&sender, "the code was stopped before its turn came").await;
                    }
                }
            }
        };
        OneRun { inner, context, turn, events: sender }.go(request, stops, started).await;
    });
    let abandoned = |_| BackendError::Engine("starting an execution was abandoned".to_owned());
    has_started.await.map_err(abandoned)??;
    Ok(Execution { events, handle })
}

async fn never_ran(events: &mpsc::Sender<Event>, why: &str) {
    let (ending, text) = (Ending::Interrupted, why.to_owned());
    let _ = events.send(Event::Done { ending, text, execution_count: 0, duration_ms: 0.0 }).await;
}

struct OneRun {
    inner: Arc<Inner>,
    context: Arc<Context>,
    turn: Turn,
    events: mpsc::Sender<Event>,
}

impl OneRun {
    async fn go(
        mut self,
        request: ExecuteRequest,
        stops: mpsc::UnboundedReceiver<Stop>,
        started: Option<oneshot::Sender<Result<()>>>,
    ) {
        if self.context.is_closed() {
            let _ = started.map(|started| started.send(Ok(())));
            return never_ran(&self.events, ENDED).await;
        }
        self.context.busy.store(true, Ordering::Release);
        self.turn.restarts = self.context.restarts();
        let began = Instant::now();
        let finished = match self.open(&request).await {
            Ok(opened) => {
                let _ = started.map(|started| started.send(Ok(())));
                self.listen(&request, opened, stops).await
            }
            Err(error) => {
                self.context.busy.store(false, Ordering::Release);
                match started {
                    Some(started) => return drop(started.send(Err(error))),
                    None => Finished::failed(&error.to_string()),
                }
            }
        };
        self.turn.count = finished.count;
        self.context.busy.store(false, Ordering::Release);
        let Self { turn, events, .. } = self;
        drop(turn);
        let duration_ms = began.elapsed().as_secs_f64() * 1000.0;
        let Finished { ending, text, count, .. } = finished;
        let _ = events.send(Event::Done { ending, text, execution_count: count, duration_ms }).await;
    }

    /// Begins the run; a sandbox or a context that the provider has lost is made again, once.
    async fn open(&self, request: &ExecuteRequest) -> Result<Opened> {
        let (mut lost_sandbox, mut again) = (false, false);
        loop {
            let at = self.inner.at().await?;
            match self.inner.shared.try_ask(self.begin(request, &at)).await? {
                Ok((interpreter, running, novelty)) => {
                    let fresh = (novelty == Novelty::Again).then(|| fresh_text(lost_sandbox));
                    let fresh = self.with_left_out(fresh, lost_sandbox).await;
                    let is_new = novelty != Novelty::Same;
                    return Ok(Opened { at, interpreter, running, is_new, fresh });
                }
                Err(ProviderError::Lost) if !again => {
                    self.inner.lose(at.generation).await;
                    (lost_sandbox, again) = (true, true);
                }
                Err(ProviderError::NoSuchContext) if !again => {
                    self.context.take_interpreter();
                    again = true;
                }
                Err(error) => return Err(self.inner.shared.error(error)),
            }
        }
    }

    async fn with_left_out(&self, fresh: Option<String>, lost_sandbox: bool) -> Option<String> {
        let left_out = if lost_sandbox { self.inner.kept.left_out().await } else { Vec::new() };
        if left_out.is_empty() {
            return fresh;
        }
        let text = fresh.unwrap_or_else(|| "the provider lost the sandbox".to_owned());
        Some(format!("{text}; but not these, which were too large to keep: {}", named(&left_out)))
    }

    async fn begin(
        &self,
        request: &ExecuteRequest,
        at: &At,
    ) -> Result<(Interpreted, Running, Novelty), ProviderError> {
        let (interpreter, novelty) = self.context.interpreter(&self.inner, at).await?;
        let can = self.inner.shared.provider.capabilities();
        if !request.env.is_empty() && !can.run_env {
            return Err(ProviderError::Unsupported("setting variables for one execution"));
        }
        let is_plain = can.interpreter == Interpreter::Plain && interpreter.channel.is_some();
        let code = if is_plain { wrapped(&request.code) } else { request.code.clone() };
        let limits = &self.inner.spec.limits;
        let run = Run {
            code,
            context: interpreter.remote.clone(),
            language: None,
            env: request.env.clone(),
            timeout: request.timeout.map_or(limits.wall, |asked| asked.min(limits.wall)),
            output_bytes: super::listen::most_read(limits.output_bytes),
        };
        let running = at.place.execute(run).await?;
        Ok((interpreter, running, novelty))
    }

    async fn listen(
        &mut self,
        request: &ExecuteRequest,
        opened: Opened,
        stops: mpsc::UnboundedReceiver<Stop>,
    ) -> Finished {
        if opened.fresh.is_some() {
            self.turn.count = 0;
        }
        if request.with_chart_data {
            let _ = self.events.send(Event::Started { execution_count: self.turn.count + 1 }).await;
        }
        if let Some(text) = &opened.fresh {
            let note = Event::Note { note: Note::FreshKernel, text: text.clone() };
            let _ = self.events.send(note).await;
        }
        let is_first = self.context.set_used();
        // Another run of this gate is to find the interpreter again.
        if (is_first || opened.is_new)
            && let Err(error) = self.inner.save_record(Some(opened.at.place.id().as_str())).await
        {
            tracing::warn!(sandbox = %self.inner.id, %error, "a remote sandbox could not be recorded");
        }
        let at = opened.at.clone();
        let limits = &self.inner.spec.limits;
        let timeout = request.timeout.map_or(limits.wall, |asked| asked.min(limits.wall));
        let listening =
            Listening::new(&self.inner, opened, &self.events, stops, timeout, self.turn.count + 1);
        let mut finished = listening.into_finished().await;
        if let Some(error) = finished.error.take() {
            let _ = self.inner.shared.heard::<()>(Err(error));
        }
        if finished.interpreter_lost {
            self.context.take_interpreter();
            if self.context.is_closed() {
                (finished.ending, finished.text) = (Ending::Interrupted, ENDED.to_owned());
            }
        }
        if self.turn.restarts != self.context.restarts() {
            (finished.ending, finished.text) = (Ending::Interrupted, RESTARTED.to_owned());
            let (name, value) = ("ContextRestarting".to_owned(), RESTARTED.to_owned());
            let _ = self.events.send(Event::Error(CodeError { name, value, traceback: Vec::new() })).await;
        }
        if finished.sandbox_lost {
            self.inner.lose(at.generation).await;
        } else {
            self.tell_what_changed(&at).await;
        }
        finished
    }

    /// Files that the execution made, changed or removed; by then the gate has them.
    async fn tell_what_changed(&self, at: &At) {
        let (now, left_out) = match self.inner.look(&at.place).await {
            Ok(looked) => looked,
            Err(error) => {
                tracing::warn!(sandbox = %self.inner.id, %error, "a look at the files after code failed");
                let text = format!("which files changed cannot be told: {error}");
                let _ = self.events.send(Event::Note { note: Note::FilesTrimmed, text }).await;
                return;
            }
        };
        let (changes, more) = {
            let mut seen = self.inner.lock_seen();
            let changed = seen.changes(&now);
            *seen = now;
            changed
        };
        let mut told = Vec::new();
        if !changes.is_empty() {
            told.push(Event::Files { changes });
        }
        if more {
            let text = "more files changed than are listed".to_owned();
            told.push(Event::Note { note: Note::FilesTrimmed, text });
        }
        if !left_out.is_empty() {
            let most = human_bytes(self.inner.spec.limits.disk_bytes);
            let text = format!(
                "the disk limit of {most} is passed; these files are gone when the sandbox ends: {}",
                named(&left_out)
            );
            told.push(Event::Note { note: Note::DiskFull, text });
        }
        for event in told {
            let _ = self.events.send(event).await;
        }
    }
}

fn fresh_text(lost_sandbox: bool) -> String {
    let why = if lost_sandbox {
        "the provider lost the sandbox, and this is a new one"
    } else {
        "the interpreter is new"
    };
    format!("{why}: variables of earlier executions are gone, files are still there")
}

fn named(paths: &[String]) -> String {
    let more = paths.len().saturating_sub(NAMED);
    let mut text = paths.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    if more > 0 {
        text.push_str(&format!(" and {more} more"));
    }
    text
}

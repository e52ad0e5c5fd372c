//! One execution on a remote sandbox: waits for its turn, starts it at the provider, passes on what it says
//! within the limits, stops it when it must stop, and tells how it ended. Nothing here waits for who reads it,
//! before the end.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::Duration;

use sandgate_core::{
    BackendError, CodeError, Ending, Event, ExecuteRequest, Execution, ExecutionHandle, Note, Result, Stop,
    human_bytes,
};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, sleep_until};

use super::context::{Context, Folder, Interpreted, Novelty, Turn};
use super::finish::{Finished, Stopped};
use super::listen::{GRACE, Listening};
use super::look::Looked;
use super::outgoing::Outgoing;
use super::passing::Counts;
use super::restore::Missing;
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
    /// When the code was sent: its time runs since then.
    pub(super) sent: Instant,
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
        let limits = &inner.spec.limits;
        let timeout = request.timeout.map_or(limits.wall, |asked| asked.min(limits.wall));
        let (sent, _) = watch::channel(None);
        let run = OneRun { inner, context, turn, request, timeout, sent };
        run.go(Outgoing::new(sender), stops, started).await;
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
    request: ExecuteRequest,
    timeout: Duration,
    /// Since when the provider has the code, and where: it may run from then on.
    sent: watch::Sender<Option<(Instant, At)>>,
}

impl OneRun {
    async fn go(
        mut self,
        mut out: Outgoing,
        mut stops: mpsc::UnboundedReceiver<Stop>,
        started: Option<oneshot::Sender<Result<()>>>,
    ) {
        if self.context.is_closed() {
            let _ = started.map(|started| started.send(Ok(())));
            return never_ran(&out.sender(), ENDED).await;
        }
        self.context.busy.store(true, Ordering::Release);
        self.turn.restarts = self.context.restarts();
        let began = Instant::now();
        let sender = out.sender();
        let opened = tokio::select! {
            opened = self.open() => Ok(opened),
            why = self.stopped_early(&mut stops, &sender) => Err(why),
        };
        let finished = match opened {
            Ok(Ok(opened)) => {
                let _ = started.map(|started| started.send(Ok(())));
                self.listen(&mut out, opened, stops).await
            }
            Ok(Err(error)) => match started {
                Some(started) => {
                    self.context.busy.store(false, Ordering::Release);
                    return drop(started.send(Err(error)));
                }
                None => Finished::failed(&error.to_string()),
            },
            Err(why) => {
                let _ = started.map(|started| started.send(Ok(())));
                self.end_unheard(why).await
            }
        };
        self.turn.count = finished.count;
        self.turn.told = finished.told.unwrap_or(self.turn.told);
        self.context.busy.store(false, Ordering::Release);
        drop(self);
        let duration_ms = began.elapsed().as_secs_f64() * 1000.0;
        let Finished { ending, text, count, .. } = finished;
        out.finish(Event::Done { ending, text, execution_count: count, duration_ms }).await;
    }

    /// Before the provider has answered: somebody stops it or leaves, or it has run for long enough unheard.
    async fn stopped_early(
        &self,
        stops: &mut mpsc::UnboundedReceiver<Stop>,
        events: &mpsc::Sender<Event>,
    ) -> Stopped {
        let mut sent = self.sent.subscribe();
        let late = async {
            let since = loop {
                if let Some((since, _)) = &*sent.borrow_and_update() {
                    break *since;
                }
                if sent.changed().await.is_err() {
                    std::future::pending::<()>().await;
                }
            };
            sleep_until(since + self.timeout + GRACE).await;
        };
        tokio::select! {
            Some(stop) = stops.recv() => if stop == Stop::Kill { Stopped::Killed } else { Stopped::Asked },
            () = events.closed() => Stopped::Asked,
            () = late => Stopped::TimedOut,
        }
    }

    async fn end_unheard(&self, why: Stopped) -> Finished {
        let sent = self.sent.borrow().as_ref().map(|(_, at)| at.clone());
        let Some(at) = sent else {
            return Finished::new(Ending::Interrupted, "the code was stopped before it ran");
        };
        // It may run by now: its interpreter is not used again.
        let remote = self.context.take_interpreter().and_then(|interpreter| interpreter.remote);
        let ended = self.inner.end_by_force(&at, remote.as_deref()).await;
        let mut finished = why.told(self.timeout, self.inner.spec.limits.output_bytes, "was ended");
        finished.text = format!("{}; {}", finished.text, ended.text());
        finished
    }

    /// Begins the run; a sandbox or a context that the provider has lost is made again, once.
    async fn open(&self) -> Result<Opened> {
        let (mut lost_sandbox, mut again) = (false, false);
        loop {
            let at = self.inner.at().await?;
            self.inner.check_reach()?;
            let begun = self.begin(&at).await;
            if begun.is_err() {
                self.sent.send_replace(None);
            }
            match self.inner.heard(&at, begun).await {
                Ok((interpreter, running, novelty, sent)) => {
                    let fresh = (novelty == Novelty::Again).then(|| fresh_text(lost_sandbox));
                    let fresh = self.with_missing(fresh);
                    let is_new = novelty != Novelty::Same;
                    return Ok(Opened { at, interpreter, running, sent, is_new, fresh });
                }
                Err(ProviderError::Lost) if !again => {
                    self.inner.lose(at.generation).await;
                    (lost_sandbox, again) = (true, true);
                }
                Err(ProviderError::NoSuchContext) if !again => {
                    self.context.take_interpreter();
                    again = true;
                    // Its address may be somebody else's by now, where code of ours has nothing to do.
                    if self.inner.is_gone(&at).await {
                        self.inner.lose(at.generation).await;
                        lost_sandbox = true;
                    }
                }
                Err(error) => return Err(self.inner.shared.error(error)),
            }
        }
    }

    /// Told once to who runs code in a new sandbox.
    fn with_missing(&self, fresh: Option<String>) -> Option<String> {
        let missing = std::mem::take(&mut *self.inner.missing.lock().unwrap_or_else(PoisonError::into_inner));
        let Missing { paths, perhaps_more } = missing;
        if paths.is_empty() && !perhaps_more {
            return fresh;
        }
        let mut text = fresh.unwrap_or_else(|| "the sandbox is a new one".to_owned());
        if !paths.is_empty() {
            let names = named(&paths);
            text.push_str(&format!(
                "; but not these, or not as they last were, which could not be kept: {names}"
            ));
        }
        if perhaps_more {
            text.push_str("; what changed after the last execution may be missing");
        }
        Some(text)
    }

    async fn begin(&self, at: &At) -> Result<(Interpreted, Running, Novelty, Instant), ProviderError> {
        let request = &self.request;
        let can = self.inner.shared.provider.capabilities();
        if !request.env.is_empty() && !can.run_env {
            return Err(ProviderError::Unsupported("setting variables for one execution"));
        }
        let (interpreter, novelty) = self.context.interpreter(&self.inner, at, Folder::IsThere).await?;
        let is_plain = can.interpreter == Interpreter::Plain && interpreter.channel.is_some();
        let code = if is_plain { wrapped(&request.code) } else { request.code.clone() };
        let run = Run {
            code,
            context: interpreter.remote.clone(),
            language: Some(self.context.language.clone()),
            env: request.env.clone(),
            timeout: self.timeout,
            output_bytes: super::listen::most_read(self.inner.spec.limits.output_bytes),
        };
        let sent = Instant::now();
        self.sent.send_replace(Some((sent, at.clone())));
        let running = at.place.execute(run).await?;
        Ok((interpreter, running, novelty, sent))
    }

    async fn listen(
        &mut self,
        out: &mut Outgoing,
        opened: Opened,
        stops: mpsc::UnboundedReceiver<Stop>,
    ) -> Finished {
        if opened.fresh.is_some() {
            self.turn.count = 0;
        }
        if opened.is_new {
            self.turn.told = 0;
        }
        if self.request.with_chart_data {
            out.push(Event::Started { execution_count: self.turn.count + 1 });
        }
        if let Some(text) = &opened.fresh {
            out.push(Event::Note { note: Note::FreshKernel, text: text.clone() });
        }
        let is_first = self.context.set_used();
        let (at, is_new) = (opened.at.clone(), opened.is_new);
        // Another run of this gate is to find the interpreter again.
        let recording = async {
            if (is_first || is_new)
                && let Err(error) = self.inner.save_record(Some(at.place.id().as_str())).await
            {
                tracing::warn!(sandbox = %self.inner.id, %error, "a remote sandbox could not be recorded");
            }
        };
        tokio::join!(self.follow(out, opened, stops), recording).0
    }

    /// To its end, and to the files it leaves.
    async fn follow(
        &self,
        out: &mut Outgoing,
        opened: Opened,
        stops: mpsc::UnboundedReceiver<Stop>,
    ) -> Finished {
        let at = opened.at.clone();
        let counts =
            Counts { own: self.turn.count + 1, before: self.turn.told, taught: opened.interpreter.taught };
        let listening = Listening::new(&self.inner, opened, out, stops, self.timeout, counts);
        let mut finished = listening.into_finished().await;
        if let Some(error) = finished.error.take() {
            let heard = self.inner.heard::<()>(&at, Err(error)).await;
            finished.sandbox_lost |= heard == Err(ProviderError::Lost);
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
            out.push(Event::Error(CodeError { name, value, traceback: Vec::new() }));
        }
        if finished.sandbox_lost {
            self.inner.lose(at.generation).await;
        }
        match finished.looked.take() {
            Some(looked) => self.tell_what_changed(out, looked),
            None if finished.sandbox_lost => {}
            None => match self.inner.look(&at).await {
                Ok(looked) => self.tell_what_changed(out, looked),
                Err(error) => {
                    tracing::warn!(sandbox = %self.inner.id, %error, "a look at the files after code failed");
                    let text = format!("which files changed cannot be told: {error}");
                    out.push(Event::Note { note: Note::FilesTrimmed, text });
                }
            },
        }
        finished
    }

    /// Files that the execution made, changed or removed; by then the gate has them.
    fn tell_what_changed(&self, out: &mut Outgoing, looked: Looked) {
        let Looked { seen: now, fetched } = looked;
        let (changes, more) = {
            let mut seen = self.inner.lock_seen();
            let changed = seen.changes(&now);
            *seen = now;
            changed
        };
        if !changes.is_empty() {
            out.push(Event::Files { changes });
        }
        if more {
            let text = "more files changed than are listed".to_owned();
            out.push(Event::Note { note: Note::FilesTrimmed, text });
        }
        if !fetched.too_large.is_empty() {
            let most = human_bytes(self.inner.spec.limits.disk_bytes);
            let names = named(&fetched.too_large);
            let text = format!(
                "the disk limit of {most} is passed; these files are gone when the sandbox ends: {names}"
            );
            out.push(Event::Note { note: Note::DiskFull, text });
        }
        if !fetched.failed.is_empty() {
            let why = fetched.why.unwrap_or_default();
            let names = named(&fetched.failed);
            let text = format!(
                "these files could not be fetched and may be gone when the sandbox ends: {names} ({why})"
            );
            out.push(Event::Note { note: Note::FilesTrimmed, text });
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

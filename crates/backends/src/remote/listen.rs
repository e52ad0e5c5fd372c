//! What the provider says of a run that is under way, until its end.

use std::sync::Arc;
use std::time::Duration;

use sandgate_core::{Ending, Event, Note, Stop};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::contexts::Ended;
use super::finish::{Finished, SIGKILL, Stopped};
use super::outgoing::Outgoing;
use super::passing::{Counts, Passing};
use super::run::Opened;
use super::sandbox::Inner;
use crate::{ProviderError, Run, RunEnd, Said};

/// From an interrupt to the end by force, as in the embedded engine.
pub(super) const GRACE: Duration = Duration::from_secs(2);
/// How far past the limit a run may go on printing before it is ended.
const GIVE_UP_FACTOR: u64 = 10;
/// Until an interpreter must have heard of an interrupt.
const PROBE: Duration = Duration::from_millis(1500);

/// More than this of a run's output is not even read.
pub(super) fn most_read(limit: u64) -> u64 {
    limit.saturating_mul(GIVE_UP_FACTOR)
}

pub(super) struct Listening<'a> {
    inner: &'a Inner,
    opened: Opened,
    passing: Passing<'a>,
    stops: mpsc::UnboundedReceiver<Stop>,
    timeout: Duration,
    stopped: Option<Stopped>,
}

impl<'a> Listening<'a> {
    pub(super) fn new(
        inner: &'a Inner,
        opened: Opened,
        out: &'a mut Outgoing,
        stops: mpsc::UnboundedReceiver<Stop>,
        timeout: Duration,
        counts: Counts,
    ) -> Self {
        let (place, limit) = (Arc::clone(&opened.at.place), inner.spec.limits.output_bytes);
        let channel = opened.interpreter.channel.as_ref();
        let passing = Passing::new(&inner.id, place, channel, out, limit, counts);
        Self { inner, opened, passing, stops, timeout, stopped: None }
    }

    pub(super) async fn into_finished(mut self) -> Finished {
        let mut wake = self.opened.sent + self.timeout;
        let reader = self.passing.out().sender();
        let mut finished = loop {
            let (is_full, has_waiting) = (self.passing.out().is_full(), self.passing.out().has_waiting());
            tokio::select! {
                said = self.opened.running.said.recv(), if !is_full => match said {
                    Some(Ok(Said::Ended(end))) => break self.ended(end).await,
                    Some(Ok(said)) => {
                        let had_told = self.passing.told().is_some();
                        self.passing.pass_on(said, wake).await;
                        if !had_told && self.passing.is_renewed() {
                            self.tell_of_renewal();
                        }
                        if self.stopped.is_none() && self.passing.dropped() > most_read(self.limit()) {
                            wake = self.stop(Stopped::Flooding);
                        }
                    }
                    Some(Err(error)) => break self.broke(error).await,
                    None => break self.broke(ProviderError::Garbage("a run without an end".to_owned())).await,
                },
                room = reader.reserve(), if has_waiting => self.passing.out().send_next(room),
                Some(stop) = self.stops.recv() => {
                    let second = self.stopped.is_some();
                    wake = self.stop(if stop == Stop::Kill { Stopped::Killed } else { Stopped::Asked });
                    if stop == Stop::Kill || second {
                        wake = Instant::now();
                    }
                }
                () = reader.closed(), if self.stopped.is_none() => wake = self.stop(Stopped::Asked),
                () = sleep_until(wake) => {
                    if self.stopped.is_some() {
                        break self.end_by_force().await;
                    }
                    wake = self.stop(Stopped::TimedOut);
                }
            }
        };
        self.passing.finish();
        (finished.count, finished.told) = (self.passing.count(), self.passing.told());
        finished.interpreter_lost |= self.passing.is_renewed();
        finished
    }

    /// It knows nothing of what it was taught, and the next run begins another.
    fn tell_of_renewal(&mut self) {
        let text = "the provider has begun the interpreter anew: variables of earlier executions are gone, files are \
                    still there; this run may have worked in another folder"
            .to_owned();
        self.passing.out().push(Event::Note { note: Note::FreshKernel, text });
    }

    fn limit(&self) -> u64 {
        self.passing.limit()
    }

    /// Asks the provider to interrupt, without waiting for its answer: what counts is how the run ends.
    fn stop(&mut self, why: Stopped) -> Instant {
        if self.stopped.is_some() {
            return Instant::now() + GRACE;
        }
        self.stopped = Some(why);
        if why == Stopped::Killed || !self.inner.shared.provider.capabilities().interrupt {
            return Instant::now();
        }
        let (place, context) = (self.opened.at.place.clone(), self.opened.interpreter.remote.clone());
        tokio::spawn(async move {
            if let Err(error) = place.interrupt(context.as_deref()).await {
                tracing::debug!(%error, "code at a provider could not be interrupted");
            }
        });
        Instant::now() + GRACE
    }

    async fn end_by_force(&self) -> Finished {
        let mut finished = self.how_stopped("was ended");
        let why = std::mem::take(&mut finished.text);
        self.end_interpreter(&mut finished, &why).await;
        finished
    }

    /// It is not used again, and what runs in it ends. `why` it had to is told with what went with it.
    async fn end_interpreter(&self, finished: &mut Finished, why: &str) {
        let Opened { at, interpreter, .. } = &self.opened;
        let ended = self.inner.end_by_force(at, interpreter.remote.as_deref()).await;
        finished.text = format!("{why}; {}", ended.text());
        finished.interpreter_lost = true;
        if let Ended::Sandbox(looked) = ended {
            (finished.sandbox_lost, finished.looked) = (true, looked);
        }
    }

    fn how_stopped(&self, how: &str) -> Finished {
        self.stopped.unwrap_or(Stopped::Asked).told(self.timeout, self.limit(), how)
    }

    async fn ended(&self, end: RunEnd) -> Finished {
        let can = self.inner.shared.provider.capabilities();
        match end {
            _ if self.stopped.is_some() && can.interrupt_by_hanging_up && !self.is_free().await => {
                self.end_by_force().await
            }
            _ if self.stopped.is_some() => self.how_stopped("was interrupted"),
            RunEnd::Finished if self.passing.has_raised() => Finished::new(Ending::Raised, "the code raised"),
            RunEnd::Finished => Finished::new(Ending::Ok, ""),
            RunEnd::Interrupted => Finished::new(Ending::Interrupted, "the code was interrupted"),
            RunEnd::TimedOut => {
                let mut finished = Stopped::TimedOut.told(self.timeout, self.limit(), "was ended");
                if !can.interrupt {
                    // What cannot be interrupted was killed, and its interpreter with it.
                    let why = std::mem::take(&mut finished.text);
                    self.end_interpreter(&mut finished, &why).await;
                }
                finished
            }
            RunEnd::Died(why) => {
                let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
                let text = format!("the interpreter died{why}; variables are gone, files are kept");
                let mut died = Finished::new(Ending::Signalled { signal: SIGKILL }, text);
                died.interpreter_lost = true;
                died
            }
        }
    }

    /// Where hanging up is the interrupt, nobody says whether the code heard of it. What runs next in its context
    /// would wait behind it, so something is run now.
    async fn is_free(&self) -> bool {
        let run = Run {
            // An expression in all languages that there are.
            code: "1".to_owned(),
            context: self.opened.interpreter.remote.clone(),
            timeout: PROBE,
            output_bytes: 1 << 20,
            ..Run::default()
        };
        let tried = async {
            let mut running = self.opened.at.place.execute(run).await.ok()?;
            loop {
                if let Said::Ended(end) = running.said.recv().await?.ok()? {
                    return Some(end == RunEnd::Finished);
                }
            }
        };
        tokio::time::timeout(PROBE, tried).await.ok().flatten().unwrap_or(false)
    }

    async fn broke(&mut self, error: ProviderError) -> Finished {
        let mut broken = match &error {
            ProviderError::Lost => {
                let text = "the provider lost the sandbox while the code ran; variables are gone, and so are \
                            files that this run made";
                let mut lost = Finished::new(Ending::Signalled { signal: SIGKILL }, text);
                (lost.interpreter_lost, lost.sandbox_lost) = (true, true);
                lost
            }
            // It told what it ran in: that is gone, and the sandbox is not.
            ProviderError::NoSuchContext => {
                Finished::failed("its interpreter is gone; variables are gone, files are kept")
            }
            ProviderError::TooLarge { .. } => {
                self.stopped = Some(Stopped::Flooding);
                return self.end_by_force().await;
            }
            // Who asked for it has left, and the connection with him.
            _ if self.stopped.is_some() => self.end_by_force().await,
            error => {
                // The code may run on.
                let mut failed = Finished::failed(&error.to_string());
                let why = std::mem::take(&mut failed.text);
                self.end_interpreter(&mut failed, &why).await;
                failed
            }
        };
        broken.error = Some(error);
        broken
    }
}

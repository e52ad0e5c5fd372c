//! One process that the agent started: passes on what it says and what it is told, keeps its time, and finds out
//! how it ended.

use std::sync::Arc;
use std::time::Duration;

use sandgate_agent::protocol::{End, FromAgent, OUTPUT_CHUNK, Size, ToAgent};
use sandgate_core::{ProcessEnd, ProcessEvent, human_bytes};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::connection::Connection;
use super::readers::Readers;
use super::running::Agent;
use crate::sandbox::EngineSandbox;

/// How long one that was killed for its time may take to be gone.
const LAST_PATIENCE: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Numbers of signals there are.
const SIGNALS: std::ops::RangeInclusive<i32> = 1..=64;

/// What others want of it.
#[derive(Debug)]
pub(super) enum Ask {
    Join(mpsc::Sender<ProcessEvent>),
    Signal(i32),
    Resize(Size),
}

#[derive(Debug)]
pub(super) struct ProcessTask {
    pub(super) sandbox: Arc<EngineSandbox>,
    pub(super) agent: Arc<Agent>,
    pub(super) connection: Connection,
    pub(super) asks: mpsc::Receiver<Ask>,
    pub(super) readers: Readers,
    pub(super) timeout: Option<Duration>,
    /// Processes that the kernel had killed for memory before.
    pub(super) killed_before: u64,
}

/// When a process's time is up: what stands still has none.
#[derive(Debug)]
struct Clock {
    end: Option<Instant>,
    /// When to look next. Kept, not made anew with every piece of output: a process that floods would put it off
    /// for ever.
    look: Option<Instant>,
    stood_still: Duration,
}

impl Clock {
    fn new(timeout: Option<Duration>, sandbox: &EngineSandbox) -> Self {
        // A time beyond what a clock can tell is none.
        let end = timeout.and_then(|time| Instant::now().checked_add(time));
        Self { end, look: end, stood_still: sandbox.stood_still() }
    }

    /// Whether the time is up; if not, it is put off by how long the sandbox stood still.
    fn is_over(&mut self, sandbox: &EngineSandbox) -> bool {
        let now = sandbox.stood_still();
        let more = now.saturating_sub(std::mem::replace(&mut self.stood_still, now));
        self.end = self.end.and_then(|end| end.checked_add(more));
        let is_over = self.end.is_some_and(|end| end <= Instant::now());
        // While it stands still the end moves on: look again, but not without a pause.
        self.look = self.end.map(|end| end.max(Instant::now() + LOOK_EVERY));
        is_over
    }

    async fn wait(&self) {
        match self.look {
            Some(look) => sleep_until(look).await,
            None => std::future::pending().await,
        }
    }
}

impl ProcessTask {
    /// To its end; None: the sandbox went away. Whoever joined hears it from the caller.
    pub(super) async fn run(&mut self) -> Option<ProcessEnd> {
        let mut clock = Clock::new(self.timeout, &self.sandbox);
        let mut timed_out = false;
        loop {
            let Self { connection, asks, readers, agent, .. } = self;
            let gone = agent.gone.clone();
            tokio::select! {
                biased;
                () = gone.cancelled() => return self.lost(timed_out),
                Some(ask) = asks.recv() => self.obey(ask).await,
                () = clock.wait() => {
                    if clock.is_over(&self.sandbox) {
                        if timed_out {
                            let why = "a process could not be ended in its time, and all were killed";
                            self.agent.end(why).await;
                        } else {
                            timed_out = true;
                            self.tell(&ToAgent::Signal(libc::SIGKILL)).await;
                            clock = Clock::new(Some(LAST_PATIENCE), &self.sandbox);
                        }
                    }
                }
                () = readers.pass(), if readers.is_passing() => {}
                said = connection.next(), if !readers.is_passing() => match said {
                    Ok(Some(FromAgent::Ended(end))) => return Some(self.ended(end, timed_out)),
                    Ok(Some(said)) => match output(said) {
                        Some(event) => self.readers.begin(event),
                        None => self.agent.end("it broke the protocol").await,
                    },
                    // Its end is told in a moment, and then why.
                    Ok(None) => self.agent.end("").await,
                    Err(_) => self.agent.end("it broke the protocol").await,
                },
            }
        }
    }

    async fn obey(&mut self, ask: Ask) {
        match ask {
            Ask::Join(reader) => self.readers.add(reader),
            Ask::Signal(signal) if SIGNALS.contains(&signal) => self.tell(&ToAgent::Signal(signal)).await,
            Ask::Signal(_) => {}
            Ask::Resize(size) => self.tell(&ToAgent::Resize(size)).await,
        }
    }

    /// The agent reads these whatever else it does; one that does not has been stopped by code inside.
    async fn tell(&mut self, what: &ToAgent) {
        let told = tokio::time::timeout(LAST_PATIENCE, self.connection.say(what)).await;
        if told.is_err() && !self.sandbox.is_paused_now() {
            self.agent.end("it did not answer").await;
        }
    }

    fn ended(&self, end: End, timed_out: bool) -> ProcessEnd {
        match end {
            _ if timed_out => ProcessEnd::TimedOut,
            End::Exited(code) => ProcessEnd::Exited { code: code & 0xff },
            End::Signalled(signal) => {
                let for_memory = signal == libc::SIGKILL && self.sandbox.killed_count() > self.killed_before;
                let limit = human_bytes(self.sandbox.limits().memory_bytes);
                let reason = for_memory.then(|| format!("the memory limit of {limit} was reached"));
                ProcessEnd::Signalled { signal, reason }
            }
        }
    }

    fn lost(&self, timed_out: bool) -> Option<ProcessEnd> {
        if self.sandbox.is_stopped() {
            return None;
        }
        if timed_out {
            return Some(ProcessEnd::TimedOut);
        }
        Some(ProcessEnd::Signalled { signal: libc::SIGKILL, reason: Some(self.agent.why_gone()) })
    }
}

/// What a process says; None: it is nothing that may be said here.
fn output(said: FromAgent) -> Option<ProcessEvent> {
    match said {
        FromAgent::Stdout(bytes) if bytes.len() <= OUTPUT_CHUNK => Some(ProcessEvent::Stdout(bytes)),
        FromAgent::Stderr(bytes) if bytes.len() <= OUTPUT_CHUNK => Some(ProcessEvent::Stderr(bytes)),
        FromAgent::Terminal(bytes) if bytes.len() <= OUTPUT_CHUNK => Some(ProcessEvent::Terminal(bytes)),
        _ => None,
    }
}

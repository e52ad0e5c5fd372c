//! What a process says, as a stream: its number first, its output as it comes, its end last. Whoever stops
//! listening does not end the process.

use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use sandgate_core::{Joined, ProcessEnd, ProcessEvent};
use tokio::time::{Instant, sleep_until};

use super::super::connect::{Last, too_late};
use super::super::messages::process::{DataEvent, Event, EventResponse, KeepAlive, Output, StartEvent};
use super::end;

/// The largest piece of output in one message.
const PIECE: usize = 32 << 10;
const TERMINAL_PIECE: usize = 16 << 10;

pub(super) struct Watched {
    joined: Joined,
    keepalive: Duration,
    deadline: Option<Instant>,
    /// Whoever started it hears of its deadline as an error; whoever joined later, as how it ended.
    is_starter: bool,
    told_start: bool,
    /// What is left of a piece that was too large for one message.
    rest: Option<ProcessEvent>,
}

type Events = BoxStream<'static, Result<EventResponse, Last>>;
type Step = Option<(Result<EventResponse, Last>, Option<Watched>)>;

impl Watched {
    pub(super) fn started(joined: Joined, keepalive: Duration) -> Events {
        Self::events(joined, keepalive, None, true)
    }

    pub(super) fn joined(joined: Joined, keepalive: Duration, timeout: Option<Duration>) -> Events {
        Self::events(joined, keepalive, timeout.map(|timeout| Instant::now() + timeout), false)
    }

    fn events(joined: Joined, keepalive: Duration, deadline: Option<Instant>, is_starter: bool) -> Events {
        let watched = Self { joined, keepalive, deadline, is_starter, told_start: false, rest: None };
        stream::unfold(Some(watched), async |watched| watched?.next().await).boxed()
    }

    async fn next(mut self) -> Step {
        if !self.told_start {
            self.told_start = true;
            let start = StartEvent { pid: self.joined.pid };
            return Some((Ok(Event::Start(start).into()), Some(self)));
        }
        let quiet = Instant::now() + self.keepalive;
        let deadline = self.deadline;
        let over = async move {
            match deadline {
                Some(deadline) => sleep_until(deadline).await,
                None => std::future::pending().await,
            }
        };
        let event = match self.rest.take() {
            Some(rest) => Some(rest),
            None => tokio::select! {
                biased;
                event = self.joined.events.recv() => event,
                () = over => return Some((Err(Last::Refused(too_late())), None)),
                () = sleep_until(quiet) => {
                    return Some((Ok(Event::Keepalive(KeepAlive {}).into()), Some(self)));
                }
            },
        };
        self.tell(event)
    }

    fn tell(mut self, event: Option<ProcessEvent>) -> Step {
        let output = match event {
            // Without an end: the sandbox went away.
            None => return Some((Err(Last::Cut), None)),
            Some(ProcessEvent::Ended(ProcessEnd::TimedOut)) if self.is_starter => {
                return Some((Err(Last::Refused(too_late())), None));
            }
            Some(ProcessEvent::Ended(end)) => {
                self.joined.events.close();
                return Some((Ok(Event::End(end::event(&end)).into()), None));
            }
            Some(ProcessEvent::Stdout(bytes)) => {
                Output::Stdout(self.piece(bytes, PIECE, ProcessEvent::Stdout))
            }
            Some(ProcessEvent::Stderr(bytes)) => {
                Output::Stderr(self.piece(bytes, PIECE, ProcessEvent::Stderr))
            }
            Some(ProcessEvent::Terminal(bytes)) => {
                Output::Pty(self.piece(bytes, TERMINAL_PIECE, ProcessEvent::Terminal))
            }
        };
        Some((Ok(Event::Data(DataEvent { output: Some(output) }).into()), Some(self)))
    }

    fn piece(&mut self, mut bytes: Bytes, most: usize, again: fn(Bytes) -> ProcessEvent) -> Bytes {
        if bytes.len() > most {
            self.rest = Some(again(bytes.split_off(most)));
        }
        bytes
    }
}

#[cfg(test)]
#[path = "events_tests.rs"]
mod tests;

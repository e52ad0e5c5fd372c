//! A command that somebody listens to. Whoever stops listening ends it.

use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use sandgate_core::{Joined, ProcessEvent, Processes};
use tokio::runtime::Handle;

use super::super::events::{TOGETHER, Tale, answer, complete, error, init, stderr, stdout, tell};
use super::kept::Command;
use super::lines::Lines;
use crate::lent::Ended;

const FAILED: &str = "CommandExecError";

pub(in super::super) fn tell_foreground(
    command: Arc<Command>,
    processes: Arc<dyn Processes>,
    joined: Joined,
) -> Response {
    let (out, err) = (Lines::default(), Lines::default());
    tell(Foreground { command, processes, joined: Some(joined), begun: false, out, err })
}

/// One that could not even start.
pub(super) fn tell_failure(command: &Command, why: &str) -> Response {
    let mut lines = Vec::new();
    init(&mut lines, &command.id);
    error(&mut lines, FAILED, why, &[why.to_owned()]);
    answer(Body::from(lines))
}

/// How it ended: an error, or that it is complete, and never both.
pub(super) fn tell_end(lines: &mut Vec<u8>, command: &Command, end: &Ended) {
    match &end.error {
        Some(words) => error(lines, FAILED, &end.code.to_string(), std::slice::from_ref(words)),
        None => complete(lines, command.took()),
    }
}

struct Foreground {
    command: Arc<Command>,
    processes: Arc<dyn Processes>,
    /// None: it is over.
    joined: Option<Joined>,
    begun: bool,
    out: Lines,
    err: Lines,
}

impl Tale for Foreground {
    async fn more(&mut self, lines: &mut Vec<u8>) -> bool {
        if !std::mem::replace(&mut self.begun, true) {
            init(lines, &self.command.id);
            return false;
        }
        let Some(joined) = &mut self.joined else { return true };
        let event = joined.events.recv().await;
        let mut over = self.add(event, lines);
        while !over && lines.len() < TOGETHER {
            let Some(joined) = &mut self.joined else { break };
            let Ok(event) = joined.events.try_recv() else { break };
            over = self.add(Some(event), lines);
        }
        over
    }
}

impl Foreground {
    /// Whether that was the last.
    fn add(&mut self, event: Option<ProcessEvent>, lines: &mut Vec<u8>) -> bool {
        let end = match event {
            Some(ProcessEvent::Stdout(bytes) | ProcessEvent::Terminal(bytes)) => {
                self.out.add(&bytes, |line| stdout(lines, line));
                return false;
            }
            Some(ProcessEvent::Stderr(bytes)) => {
                self.err.add(&bytes, |line| stderr(lines, line));
                return false;
            }
            Some(ProcessEvent::Ended(end)) => Ended::from(&end),
            None => Ended {
                code: -1,
                exited: false,
                status: String::new(),
                error: Some("the sandbox went away".to_owned()),
            },
        };
        self.out.finish(|line| stdout(lines, line));
        self.err.finish(|line| stderr(lines, line));
        self.joined = None;
        self.command.ended(&end);
        tell_end(lines, &self.command, &end);
        true
    }
}

impl Drop for Foreground {
    fn drop(&mut self) {
        let Some(joined) = self.joined.take() else { return };
        // Without a runtime the whole server is ending, and every sandbox with it.
        let Ok(runtime) = Handle::try_current() else { return };
        let (command, processes) = (Arc::clone(&self.command), Arc::clone(&self.processes));
        runtime.spawn(async move {
            if let Err(error) = command.kill(&*processes).await {
                tracing::debug!(%error, "a command that nobody listens to could not be ended");
            }
            command.follow(joined).await;
        });
    }
}

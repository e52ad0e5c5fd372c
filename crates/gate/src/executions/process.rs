//! Commands go the way of code: allowed first, on record, and only then started.

use std::sync::Arc;

use sandgate_core::{
    BackendError, Container, Ending, Event, ExecuteRequest, Joined, ProcessEnd, ProcessEvent, StartProcess,
};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::{Asker, Executions, NotRun, what};
use crate::ledger::ExecutionEntry;

/// What rules know a command by.
const LANGUAGE: &str = "bash";
/// Pieces of output that wait for whoever reads.
const AHEAD: usize = 16;

impl Executions {
    /// Starts a command in the name of `asker`, who was lent the container. What is typed into it later is not
    /// looked at.
    pub async fn start_process(
        &self,
        asker: &Asker,
        container: &Arc<Container>,
        start: StartProcess,
    ) -> Result<Joined, NotRun> {
        let run = ExecuteRequest {
            code: as_text(&start),
            language: Some(LANGUAGE.to_owned()),
            timeout: start.timeout,
            ..ExecuteRequest::default()
        };
        let (size, limit) = (run.code.len() as u64, container.spec().limits.code_bytes);
        if size > limit {
            return Err(BackendError::CodeTooLarge { size, limit }.into());
        }
        self.ask(asker, container, &run).await?;
        let mut entry = ExecutionEntry::begin(&asker.call, container, &what(&run)).await?;
        match begin(asker, container, start, &mut entry).await {
            Ok(joined) => Ok(on_record(joined, entry)),
            Err(error) => {
                entry.fail(&error.to_string());
                Err(error.into())
            }
        }
    }
}

async fn begin(
    asker: &Asker,
    container: &Container,
    start: StartProcess,
    entry: &mut ExecutionEntry,
) -> sandgate_core::Result<Joined> {
    let sandbox = container.sandbox_within(&asker.limits).await?;
    entry.starts_in(&sandbox);
    sandbox.processes().await?.start(start).await
}

/// The text that a shell is given, or the words of the command.
fn as_text(start: &StartProcess) -> String {
    let is_shell = matches!(start.program.rsplit('/').next(), Some("bash" | "sh"));
    match start.args.iter().position(|word| word == "-c") {
        Some(at) if is_shell && at + 1 < start.args.len() => start.args[at + 1..].join(" "),
        _ => {
            let words = std::iter::once(&start.program).chain(&start.args);
            words.map(String::as_str).collect::<Vec<_>>().join(" ")
        }
    }
}

/// Reads to the end, also when nobody else does any more: a command outlives whoever started it, and its record
/// ends when it does.
fn on_record(joined: Joined, mut entry: ExecutionEntry) -> Joined {
    let Joined { pid, mut events } = joined;
    let (sender, receiver) = mpsc::channel(AHEAD);
    let began = Instant::now();
    tokio::spawn(async move {
        while let Some(event) = events.recv().await {
            entry.event(&recorded(&event, began));
            // Nobody may be left to hear it.
            let _ = sender.send(event).await;
        }
    });
    Joined { pid, events: receiver }
}

fn recorded(event: &ProcessEvent, began: Instant) -> Event {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match event {
        ProcessEvent::Stdout(bytes) | ProcessEvent::Terminal(bytes) => Event::Stdout { text: text(bytes) },
        ProcessEvent::Stderr(bytes) => Event::Stderr { text: text(bytes) },
        ProcessEvent::Ended(end) => Event::Done {
            ending: match end {
                ProcessEnd::Exited { code: 0 } => Ending::Ok,
                ProcessEnd::Exited { code } => Ending::Exited { code: *code },
                ProcessEnd::Signalled { signal, .. } => Ending::Signalled { signal: *signal },
                ProcessEnd::TimedOut => Ending::TimedOut,
            },
            text: String::new(),
            execution_count: 0,
            duration_ms: began.elapsed().as_secs_f64() * 1000.0,
        },
    }
}

#[cfg(test)]
#[path = "process_tests.rs"]
mod tests;

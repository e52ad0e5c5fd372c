//! What is remembered of the commands of a sandbox. What is old and over is forgotten first.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sandgate_core::{BackendError, Joined, ProcessEvent, ProcessRef, Processes, now_ms, random_hex};
use serde::Serialize;

use super::super::guest::Guest;
use super::super::log::{Log, Source};
use super::super::place::lock;
use super::super::refusal::Refusal;
use super::GRACE;
use crate::lent::{Ended, iso};

const MOST: usize = 512;
/// Those have logs.
const MOST_BACKGROUND: usize = 32;
/// Of what a command was called.
const LONGEST_CONTENT: usize = 16 << 10;
const TERMINATE: i32 = 15;
const KILL: i32 = 9;

#[derive(Debug, Default)]
pub(in super::super) struct Commands(Mutex<VecDeque<Arc<Command>>>);

#[derive(Debug)]
pub(in super::super) struct Command {
    pub(in super::super) id: String,
    /// By which the sandbox knows it.
    pub(in super::super) tag: String,
    pub(super) content: String,
    started_ms: u64,
    /// Of one in the background.
    log: Option<Mutex<Log>>,
    end: Mutex<Option<End>>,
}

#[derive(Clone, Debug)]
struct End {
    code: i32,
    error: Option<String>,
    at_ms: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct Status {
    id: String,
    content: String,
    running: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    started_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    finished_at: Option<String>,
}

impl Commands {
    /// A new one, about to start.
    pub(in super::super) fn add(&self, content: String, background: bool) -> Result<Arc<Command>, Refusal> {
        let mut all = lock(&self.0);
        let logged = all.iter().filter(|command| command.log.is_some()).count();
        if background && logged >= MOST_BACKGROUND {
            forget(&mut all, |command| command.log.is_some()).ok_or_else(|| {
                Refusal::too_many(format!(
                    "{MOST_BACKGROUND} commands run in the background, which is the limit"
                ))
            })?;
        }
        if all.len() >= MOST {
            forget(&mut all, |_| true)
                .ok_or_else(|| Refusal::too_many(format!("{MOST} commands run, which is the limit")))?;
        }
        let id = random_hex(16);
        let command = Arc::new(Command::new(id.clone(), id, content, background));
        all.push_back(Arc::clone(&command));
        Ok(command)
    }

    pub(super) fn find(&self, id: &str) -> Option<Arc<Command>> {
        lock(&self.0).iter().find(|command| command.id == id).cloned()
    }

    /// Whether there is such a command. It is asked to end, and made to when it does not.
    pub(in super::super) async fn interrupt(&self, guest: &Guest, id: &str) -> Result<bool, Refusal> {
        let mut found: Vec<_> = self.find(id).into_iter().collect();
        let session = guest.place.sessions.running(id);
        if found.is_empty() && session.is_none() {
            return Ok(false);
        }
        found.extend(session.unwrap_or_default());
        for command in found {
            command.stop(guest.processes().await?).await?;
        }
        Ok(true)
    }
}

/// The oldest that is over. None: there is none.
fn forget(all: &mut VecDeque<Arc<Command>>, is_meant: impl Fn(&Command) -> bool) -> Option<()> {
    let oldest = all.iter().position(|command| command.is_over() && is_meant(command))?;
    all.remove(oldest).map(drop)
}

impl Command {
    pub(in super::super) fn new(id: String, tag: String, mut content: String, background: bool) -> Self {
        if content.len() > LONGEST_CONTENT {
            let end = (0..=LONGEST_CONTENT).rev().find(|end| content.is_char_boundary(*end));
            content.truncate(end.unwrap_or_default());
        }
        let log = background.then(Mutex::default);
        Self { id, tag, content, started_ms: now_ms(), log, end: Mutex::default() }
    }

    pub(in super::super) fn is_over(&self) -> bool {
        lock(&self.end).is_some()
    }

    pub(super) fn not_started(&self, why: &str) {
        self.set_end(255, Some(why.to_owned()));
    }

    pub(super) fn ended(&self, end: &Ended) {
        self.set_end(end.code, end.error.clone());
    }

    fn set_end(&self, code: i32, error: Option<String>) {
        lock(&self.end).get_or_insert(End { code, error, at_ms: now_ms() });
    }

    /// Writes down what it says, and its end.
    pub(super) async fn follow(&self, mut joined: Joined) {
        while let Some(event) = joined.events.recv().await {
            match event {
                ProcessEvent::Stdout(bytes) | ProcessEvent::Terminal(bytes) => self.said(Source::Out, &bytes),
                ProcessEvent::Stderr(bytes) => self.said(Source::Err, &bytes),
                ProcessEvent::Ended(end) => self.ended(&Ended::from(&end)),
            }
        }
        self.set_end(-1, Some("the sandbox went away".to_owned()));
    }

    fn said(&self, source: Source, bytes: &[u8]) {
        if let Some(log) = &self.log {
            lock(log).add(source, bytes);
        }
    }

    /// What it said from a place on, and the place after that. None: nobody wrote it down.
    pub(super) fn logs(&self, cursor: u64) -> Option<(Vec<u8>, u64)> {
        let log = lock(self.log.as_ref()?);
        let text: Vec<u8> = log.after(cursor).1.into_iter().flat_map(|(_, piece)| piece).copied().collect();
        Some((text, log.end()))
    }

    pub(super) fn status(&self) -> Status {
        let end = lock(&self.end).clone();
        Status {
            id: self.id.clone(),
            content: self.content.clone(),
            running: end.is_none(),
            exit_code: end.as_ref().map(|end| end.code),
            error: end.as_ref().and_then(|end| end.error.clone()),
            started_at: iso(self.started_ms),
            finished_at: end.as_ref().map(|end| iso(end.at_ms)),
        }
    }

    async fn stop(self: Arc<Self>, processes: Arc<dyn Processes>) -> Result<(), Refusal> {
        if self.is_over() {
            return Ok(());
        }
        self.signal(&*processes, TERMINATE).await?;
        tokio::spawn(async move {
            tokio::time::sleep(GRACE).await;
            if !self.is_over() {
                let _ = self.signal(&*processes, KILL).await;
            }
        });
        Ok(())
    }

    /// At once, and whatever it says to that is nobody's any more.
    pub(in super::super) async fn kill(&self, processes: &dyn Processes) -> Result<(), BackendError> {
        self.signal(processes, KILL).await
    }

    async fn signal(&self, processes: &dyn Processes, signal: i32) -> Result<(), BackendError> {
        match processes.signal(&ProcessRef::Tag(self.tag.clone()), signal).await {
            // It has just ended.
            Ok(()) | Err(BackendError::NoSuchProcess(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// How long it has run.
    pub(super) fn took(&self) -> Duration {
        Duration::from_millis(now_ms().saturating_sub(self.started_ms))
    }
}

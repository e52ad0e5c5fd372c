//! What runs in a sandbox from its start: the entrypoint that its maker named, and what shows OpenSandbox's clients
//! that the code interpreter is there.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sandgate_core::{Input, Joined, ProcessEnd, ProcessEvent, Result, Sandbox, StartProcess, now_ms};

use super::lifecycle::is_code_interpreter;
use super::target::Target;
use super::{DOOR, OpenSandboxDoor};

/// Entrypoints that only keep a container from ending, or start what runs here without being started.
const IDLE: [&[&str]; 4] = [
    &["tail", "-f", "/dev/null"],
    &["sleep", "infinity"],
    &["/opt/opensandbox/code-interpreter.sh"],
    &["/opt/code-interpreter/code-interpreter.sh"],
];
const TAG: &str = "opensandbox-entrypoint";
/// Bytes kept of what an entrypoint says.
const KEPT: usize = 64 << 10;

/// Clients look whether something listens here before they believe in the code interpreter. With OpenSandbox it is
/// Jupyter; here the interpreters need no port, so there is something that only says so.
const USUAL_PORT: u16 = 44771;
const NO_JUPYTER: &str = "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: 65\r\n\r\n\
                          There is no Jupyter here: the code interpreter is execd's /code.\n";

/// What the entrypoints of sandboxes said, for as long as this server runs.
#[derive(Debug, Default)]
pub(super) struct Entries(Mutex<HashMap<String, Arc<Mutex<Log>>>>);

#[derive(Clone, Debug, Default)]
pub(super) struct Log {
    pub(super) text: String,
    /// There was more before it.
    pub(super) truncated: bool,
    /// When, in milliseconds since 1970, and how.
    pub(super) ended: Option<(u64, String)>,
}

impl Log {
    fn add(&mut self, bytes: &[u8]) {
        self.text.push_str(&String::from_utf8_lossy(bytes));
        let over = self.text.len().saturating_sub(KEPT);
        if over > 0 {
            let cut = (over..self.text.len()).find(|at| self.text.is_char_boundary(*at));
            self.text.drain(..cut.unwrap_or(self.text.len()));
            self.truncated = true;
        }
    }
}

impl Entries {
    /// Starts the entrypoint, unless it is one that does nothing.
    pub(super) async fn start(&self, door: &Arc<OpenSandboxDoor>, target: &Target) -> Result<()> {
        let words: Vec<_> = target.details.entrypoint.iter().map(String::as_str).collect();
        let Some((program, args)) = words.split_first().filter(|_| !IDLE.contains(&words.as_slice())) else {
            return Ok(());
        };
        let start = StartProcess {
            program: (*program).to_owned(),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            tag: Some(TAG.to_owned()),
            input: Input::Closed,
            ..StartProcess::default()
        };
        let joined = target.start(start).await?;
        let log = Arc::<Mutex<Log>>::default();
        {
            let mut all = self.lock();
            // Those of sandboxes that have ended meanwhile, in whatever way.
            all.retain(|id, _| door.leases.find(DOOR, id).is_ok());
            all.insert(target.lease.id.clone(), Arc::clone(&log));
        }
        tokio::spawn(keep(joined, log));
        Ok(())
    }

    pub(super) fn log(&self, id: &str) -> Log {
        let log = self.lock().get(id).cloned();
        log.map(|log| lock(&log).clone()).unwrap_or_default()
    }

    pub(super) fn forget(&self, id: &str) {
        self.lock().remove(id);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Mutex<Log>>>> {
        lock(&self.0)
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn keep(mut joined: Joined, log: Arc<Mutex<Log>>) {
    while let Some(event) = joined.events.recv().await {
        match event {
            ProcessEvent::Stdout(bytes) | ProcessEvent::Stderr(bytes) | ProcessEvent::Terminal(bytes) => {
                lock(&log).add(&bytes);
            }
            ProcessEvent::Ended(end) => {
                let how = match end {
                    ProcessEnd::Exited { code } => format!("exit code {code}"),
                    ProcessEnd::Signalled { signal, reason: None } => format!("signal {signal}"),
                    ProcessEnd::Signalled { signal, reason: Some(reason) } => {
                        format!("signal {signal}, {reason}")
                    }
                    ProcessEnd::TimedOut => "it ran for too long".to_owned(),
                };
                lock(&log).ended = Some((now_ms(), how));
            }
        }
    }
}

impl Target {
    /// Sees to it that something listens where clients look for the code interpreter of its image, also when the
    /// sandbox was started again over its files. Why not is in the log; the client finds out by itself.
    pub(super) async fn interpreter_listens(&self) {
        if !is_code_interpreter(&self.details.image) {
            return;
        }
        if let Err(error) = self.listen().await {
            tracing::warn!(lease = self.lease.id, %error, "nothing shows that the code interpreter is there");
        }
    }

    async fn listen(&self) -> Result<()> {
        let sandbox: Arc<dyn Sandbox> = self.sandbox().await?;
        let env = &self.container.spec().env;
        let port =
            env.iter().find(|(name, _)| name == "JUPYTER_PORT").and_then(|(_, port)| port.parse().ok());
        // Zero would be another one each time.
        let port = port.filter(|port| *port != 0);
        sandbox.inside().await?.answer(port.unwrap_or(USUAL_PORT), NO_JUPYTER).await
    }
}

#[cfg(test)]
#[path = "entry_tests.rs"]
mod tests;

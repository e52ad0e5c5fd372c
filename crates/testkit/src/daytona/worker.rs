//! A Python interpreter of a sandbox: one run at a time, others wait.

use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::sync::{Mutex, mpsc};

use super::check::Refused;
use super::sandbox::Sandbox;

const DRIVER: &str = include_str!("worker.py");
/// For code to end after it was interrupted.
const GRACE: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(crate) struct Worker {
    pub(crate) cwd: Option<String>,
    process: Mutex<Option<Process>>,
    dead: AtomicBool,
}

#[derive(Debug)]
struct Process {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Done,
    TimedOut,
    Died,
}

impl Worker {
    pub(crate) fn new(cwd: Option<String>) -> Self {
        Self { cwd, process: Mutex::default(), dead: AtomicBool::new(false) }
    }

    /// It ended once, and its context with it.
    pub(crate) fn is_dead(&self) -> bool {
        self.dead.load(Ordering::Relaxed)
    }

    fn end(&self, place: &mut Option<Process>) {
        *place = None;
        self.dead.store(true, Ordering::Relaxed);
    }

    pub(crate) async fn run(
        &self,
        sandbox: &Sandbox,
        request: &Value,
        timeout: Duration,
        frames: &mpsc::Sender<String>,
    ) -> Result<End, Refused> {
        let mut place = self.process.lock().await;
        if place.is_none() {
            *place = Some(self.start(sandbox)?);
        }
        let Some(process) = place.as_mut() else { return Ok(End::Died) };
        let line = json!({"code": request["code"], "envs": request["envs"]}).to_string() + "\n";
        if process.input.write_all(line.as_bytes()).await.is_err() {
            self.end(&mut place);
            return Ok(End::Died);
        }
        let ended = tokio::time::timeout(timeout, process.listen(Some(frames))).await;
        let end = match ended {
            Ok(end) => end,
            Err(_) => {
                process.interrupt();
                match tokio::time::timeout(GRACE, process.listen(None)).await {
                    Ok(End::Done) => return Ok(End::TimedOut),
                    Ok(_) | Err(_) => {
                        self.end(&mut place);
                        return Ok(End::TimedOut);
                    }
                }
            }
        };
        if end == End::Died {
            self.end(&mut place);
        }
        Ok(end)
    }

    fn start(&self, sandbox: &Sandbox) -> Result<Process, Refused> {
        let mut command = sandbox.program(&["/opt/venv/bin/python", "-u", "-c", DRIVER]);
        if let Some(cwd) = &self.cwd {
            command.env("START_IN", cwd);
        }
        command.stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| Refused::failed(&error))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Refused::failed(&"the interpreter has no pipes"));
        };
        Ok(Process { child, input, output: BufReader::new(output).lines() })
    }
}

impl Process {
    /// Until the run is over.
    async fn listen(&mut self, frames: Option<&mpsc::Sender<String>>) -> End {
        while let Ok(Some(line)) = self.output.next_line().await {
            let is_last = serde_json::from_str::<Value>(&line).is_ok_and(|frame| frame["type"] == "control");
            if let Some(frames) = frames {
                // Who stopped listening does not stop the code.
                let _ = frames.send(line).await;
            }
            if is_last {
                return End::Done;
            }
        }
        End::Died
    }

    fn interrupt(&self) {
        if let Some(pid) = self.child.id() {
            // No signal without a library: the tool is everywhere.
            let _ = std::process::Command::new("kill").args(["-INT", &pid.to_string()]).status();
        }
    }
}

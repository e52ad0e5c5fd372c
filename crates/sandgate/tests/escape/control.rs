//! The control run: plain Python as the host's root, with no sandbox. An attempt that does nothing there proves
//! nothing by being blocked in a sandbox.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use tempfile::TempDir;

use crate::attempt::{Attempt, Control, Verdict};
use crate::stage::{Aims, SECRET, Stage};

pub(crate) fn run(stage: &Stage, aims: &Aims, attempt: &Attempt) -> Result<Verdict> {
    let folder = TempDir::with_prefix("sandgate-escape-cwd-")?;
    // Inherits what the stage left open, as a careless server would leave it to what it starts.
    let mut python = Command::new("/usr/bin/timeout")
        .args(["--signal=KILL", "60", "/usr/bin/python3", "-"])
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env(SECRET, &stage.secret)
        .current_dir(&folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let program = stage.program(attempt, aims)?;
    python.stdin.take().context("no input")?.write_all(program.as_bytes())?;
    let output = python.wait_with_output()?;
    let verdict = Verdict::read(&String::from_utf8_lossy(&output.stdout));
    if fs::read_dir(&folder)?.next().is_some() {
        return Ok(Verdict::Neither("it left something behind".to_owned()));
    }
    match verdict {
        Verdict::Neither(said) => {
            Ok(Verdict::Neither(format!("{said} {}", String::from_utf8_lossy(&output.stderr).trim_end())))
        }
        verdict => Ok(verdict),
    }
}

/// What the attempt's file says should have happened, unless it did.
pub(crate) fn missed(attempt: &Attempt, verdict: &Verdict) -> Option<String> {
    match (&attempt.control, verdict) {
        (_, Verdict::Escaped(_)) => None,
        (Control::Refused(number), Verdict::Blocked(reason)) if number == reason => None,
        (Control::Refused(number), _) => Some(format!("ESCAPED or BLOCKED {number}")),
        (Control::Escapes, _) => Some("ESCAPED".to_owned()),
    }
}

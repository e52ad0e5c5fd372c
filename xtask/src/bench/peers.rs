//! The peers: ipykernel through jupyter_client, and a plain Python in bubblewrap.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use super::cells::milliseconds;
use super::venv::PeerVenv;
use super::{FIRST_CELL, FIRST_PROGRAM, WARM_CELL};
use crate::apt;
use crate::run::works;

const DRIVER: &str = include_str!("ipykernel_peer.py");

/// How long to wait for a kernel before sending it code; the driver explains.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Wait {
    Usual,
    Least,
}

#[derive(Debug, Serialize)]
struct Request<'a> {
    wait: Wait,
    first: &'a str,
    again: &'a str,
    cells: usize,
}

#[derive(Debug, Deserialize)]
pub(super) struct Measured {
    pub(super) first: f64,
    pub(super) again: Vec<f64>,
    pub(super) private: u64,
}

/// The driver, which starts a kernel for each request.
#[derive(Debug)]
pub(super) struct Ipykernel {
    driver: Child,
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Ipykernel {
    pub(super) fn start(venv: &PeerVenv) -> Result<Self> {
        let mut command = venv.python();
        // Its kernels warn on every start that they talk over TCP; errors come as an end without an answer.
        let log = std::fs::File::create(&venv.log)?;
        command.args(["-c", DRIVER]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log);
        let mut driver = command.spawn().context("the driver of ipykernel could not be started")?;
        let requests = driver.stdin.take();
        let answers = BufReader::new(driver.stdout.take().context("the driver has no output")?);
        Ok(Self { driver, requests, answers })
    }

    pub(super) fn measure(&mut self, wait: Wait, cells: usize) -> Result<Measured> {
        let request = Request { wait, first: FIRST_CELL, again: WARM_CELL, cells };
        let mut requests = self.requests.as_ref().context("the driver was told to end")?;
        requests.write_all(format!("{}\n", serde_json::to_string(&request)?).as_bytes())?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer)?;
        ensure!(!answer.is_empty(), "the driver of ipykernel ended; see target/bench-venv/driver.log");
        Ok(serde_json::from_str(&answer)?)
    }
}

impl Drop for Ipykernel {
    fn drop(&mut self) {
        // It ends at the end of its input.
        self.requests.take();
        let _ = self.driver.wait();
    }
}

/// A new Python in new namespaces for each program, as tools do that have no kernel.
#[derive(Debug)]
pub(super) struct Bubblewrap<'a> {
    venv: &'a PeerVenv,
    python: PathBuf,
}

impl<'a> Bubblewrap<'a> {
    pub(super) fn find(venv: &'a PeerVenv) -> Result<Self> {
        if !works(Command::new("bwrap").arg("--version")) {
            apt::install(&["bubblewrap"], "the benchmark's peer")?;
        }
        Ok(Self { venv, python: PathBuf::from(venv.python().get_program()) })
    }

    pub(super) fn run(&self) -> Result<f64> {
        let mut command = Command::new("bwrap");
        command
            .args([
                "--unshare-all",
                "--die-with-parent",
                "--ro-bind",
                "/",
                "/",
                "--proc",
                "/proc",
                "--dev",
                "/dev",
            ])
            .args(["--tmpfs", "/tmp"])
            // Again, for work trees below /tmp.
            .arg("--ro-bind")
            .args([&self.venv.folder, &self.venv.folder])
            // Writable, or matplotlib would look at all fonts of the machine each time.
            .arg("--bind")
            .args([&self.venv.matplotlib, &self.venv.matplotlib])
            .arg(&self.python)
            .args(["-c", FIRST_PROGRAM])
            .stdin(Stdio::null());
        self.venv.settings(&mut command);
        let begun = Instant::now();
        let output = command.output()?;
        let took = milliseconds(begun);
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.stdout == b"42\n", "bubblewrap ended with {}: {said}", output.status);
        Ok(took)
    }
}

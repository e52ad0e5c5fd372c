//! The server itself, started with a secret in its environment and descriptors left open, asked over HTTP.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::attempt::Verdict;
use crate::stage::{NEIGHBOUR, Neighbour, SECRET, Stage};

pub(crate) struct Server {
    process: Child,
    pub(crate) address: SocketAddr,
    home: PathBuf,
}

impl Server {
    pub(crate) fn start(stage: &Stage) -> Result<Self> {
        let home = stage.home("server")?;
        let mut process = Command::new(env!("CARGO_BIN_EXE_sandgate"))
            .args(["serve", "--listen", "127.0.0.1:0"])
            .env("SANDGATE_HOME", &home)
            .env(SECRET, &stage.secret)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut said = String::new();
        BufReader::new(process.stdout.take().context("no output")?).read_line(&mut said)?;
        let address = said.trim().rsplit_once("http://").map(|(_, address)| address.parse());
        match address {
            Some(Ok(address)) => Ok(Self { process, address, home }),
            _ => {
                let _ = process.kill();
                process.wait()?;
                anyhow::bail!("the server did not start; its last words are above")
            }
        }
    }

    /// That there is something to find: the secret is in its environment and the file of the host is open.
    pub(crate) fn check_bait(&self, stage: &Stage) -> Result<()> {
        let own = PathBuf::from(format!("/proc/{}", self.process.id()));
        let environment = fs::read(own.join("environ"))?;
        let secret = stage.secret.as_bytes();
        ensure!(environment.windows(secret.len()).any(|part| part == secret), "the server has no secret");
        let open = fs::read_dir(own.join("fd"))?.flatten().filter_map(|fd| fs::read_link(fd.path()).ok());
        ensure!(open.into_iter().any(|path| path.ends_with("host-file")), "the server has no file open");
        Ok(())
    }

    pub(crate) fn neighbour(&self) -> Result<Neighbour> {
        self.execute(NEIGHBOUR)?;
        Neighbour::find(&self.home)
    }

    /// Runs a program in a container of its own.
    pub(crate) fn run(&self, program: &str) -> Result<Verdict> {
        let answer = self.execute(program)?;
        let output = answer["stdout"].as_str().unwrap_or_default();
        // The whole sandbox went down for its memory, with the attempt in it.
        if output.is_empty() && answer["ending"]["limit"] == "memory" {
            return Ok(Verdict::Blocked("SIGKILL".to_owned()));
        }
        Ok(match Verdict::read(output) {
            Verdict::Neither(_) => Verdict::Neither(answer.to_string()),
            verdict => verdict,
        })
    }

    fn execute(&self, code: &str) -> Result<Value> {
        let body = json!({ "code": code }).to_string();
        let mut stream = TcpStream::connect(self.address)?;
        stream.set_read_timeout(Some(Duration::from_secs(90)))?;
        write!(
            stream,
            "POST /v1/execute HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let (head, body) = answer.split_once("\r\n\r\n").context("no answer")?;
        ensure!(head.starts_with("HTTP/1.1 200 "), "{head}: {body}");
        Ok(serde_json::from_str(body)?)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(pid) = i32::try_from(self.process.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process(pid, Signal::TERM);
        }
        let _ = self.process.wait();
    }
}

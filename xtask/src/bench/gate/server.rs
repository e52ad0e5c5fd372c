//! The processes under measurement: started, awaited, watched, and ended with the benchmark.

use std::fs;
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use hyper::Method;
use rustix::process::{Pid, Signal, kill_process};

use super::client::Client;
use crate::ground::Ground;

/// From the start of a process until it answers.
const LONGEST_START: Duration = Duration::from_secs(120);
/// From the signal until its end.
const LONGEST_END: Duration = Duration::from_secs(20);

/// A server that ends when this is dropped.
#[derive(Debug)]
pub(in crate::bench) struct Server {
    process: Child,
    pub(in crate::bench) address: SocketAddr,
}

/// `sandgate serve` as users have it, over a data folder of its own in the folder of this name.
pub(in crate::bench) async fn sandgate(ground: &Ground, name: &str, settings: &str) -> Result<Server> {
    let folder = ground.target.join(name);
    let home = folder.join("home");
    match fs::remove_dir_all(&home) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            return Err(error).with_context(|| format!("cannot remove {}", home.display()));
        }
        _ => fs::create_dir_all(&home)?,
    }
    std::os::unix::fs::symlink(ground.test_home().join("runtimes"), home.join("runtimes"))?;
    let config = folder.join("config.yaml");
    fs::write(&config, settings)?;
    let address = free_address()?;
    let mut command = Command::new(ground.target.join("release/sandgate"));
    command.args(["serve", "--listen", &address.to_string(), "--config"]).arg(&config);
    command.env("SANDGATE_HOME", &home).env_remove("RUST_LOG").env_remove("OPENAI_API_KEY");
    Server::start(command, &folder.join("sandgate.log"), address, "/health").await
}

/// Taken again right away, so that nobody else is likely to have it.
pub(in crate::bench) fn free_address() -> Result<SocketAddr> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?)
}

impl Server {
    /// Until `health` is answered with a success. What it says goes to `log`.
    pub(in crate::bench) async fn start(
        mut command: Command,
        log: &Path,
        address: SocketAddr,
        health: &str,
    ) -> Result<Self> {
        let file = fs::File::create(log)?;
        command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
        let process = command.spawn().with_context(|| crate::run::name_of(&command))?;
        let mut server = Self { process, address };
        let begun = Instant::now();
        loop {
            let answer = Client::new(address, "").send(Method::GET, health, bytes::Bytes::new()).await;
            if answer.is_ok_and(|answer| answer.status.is_success()) {
                return Ok(server);
            }
            if let Some(status) = server.process.try_wait()? {
                bail!("it ended with {status}; see {}", log.display());
            }
            if begun.elapsed() > LONGEST_START {
                bail!("it did not answer in {} seconds; see {}", LONGEST_START.as_secs(), log.display());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Processor time of this process alone, of all its threads, in milliseconds.
    pub(in crate::bench) fn cpu_ms(&self) -> Result<f64> {
        let mut nanoseconds = 0_u64;
        for thread in fs::read_dir(format!("/proc/{}/task", self.process.id()))?.flatten() {
            let text = fs::read_to_string(thread.path().join("schedstat")).unwrap_or_default();
            nanoseconds += text.split_whitespace().next().and_then(|time| time.parse().ok()).unwrap_or(0);
        }
        Ok(nanoseconds as f64 / 1e6)
    }

    /// Resident memory of this process alone: now, or `VmHWM` for the most since it was forgotten.
    pub(in crate::bench) fn memory_mib(&self, row: &str) -> Result<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix(row)?.strip_prefix(':'));
        let kibibytes = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
        Ok(kibibytes.with_context(|| format!("there is no {row}"))? / 1024.0)
    }

    pub(in crate::bench) fn forget_peak(&self) -> Result<()> {
        Ok(fs::write(format!("/proc/{}/clear_refs", self.process.id()), "5")?)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let pid = i32::try_from(self.process.id()).ok().and_then(Pid::from_raw);
        let told = pid.is_some_and(|pid| kill_process(pid, Signal::TERM).is_ok());
        let begun = Instant::now();
        while told && begun.elapsed() < LONGEST_END {
            if !matches!(self.process.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

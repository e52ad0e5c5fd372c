//! The real program: run to its end, or as a server that goes with the test process.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::LONGEST;

/// The program over the data folder `home`, with nothing on its standard input.
pub(crate) fn sandgate(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sandgate"));
    command
        .env("SANDGATE_HOME", home)
        .env_remove("RUST_LOG")
        .env_remove("SANDGATE_MASTER_KEY")
        .env_remove("OPENAI_API_KEY");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Waits for its end, but not for ever.
pub(crate) fn finish(child: Child) -> Output {
    let pid = pid(&child);
    let (sender, ended) = mpsc::channel();
    thread::spawn(move || sender.send(child.wait_with_output()));
    match ended.recv_timeout(LONGEST) {
        Ok(output) => output.expect("the output of the program"),
        Err(_) => {
            let _ = kill_process(pid, Signal::KILL);
            panic!("the program hangs");
        }
    }
}

pub(crate) fn pid(child: &Child) -> Pid {
    Pid::from_raw(i32::try_from(child.id()).expect("a process id")).expect("a process id")
}

/// Looks again and again until it is so.
pub(crate) fn wait_until(what: &str, mut so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !so() {
        assert!(begin.elapsed() < LONGEST, "in vain: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// A running `sandgate serve`.
pub(crate) struct Server {
    process: Child,
    pub(crate) address: SocketAddr,
}

/// The shell ends the server when the test process is gone, which closes the shell's standard input, and
/// then removes its home.
const WITH_ITS_PARENT: &str = r#""$0" serve --listen 127.0.0.1:0 --config "$1" & cat >/dev/null; kill $!; wait; rm -rf "$SANDGATE_HOME""#;

const LOG: &str = "server.log";

/// Where its standard error goes.
fn log(home: &Path) -> std::fs::File {
    std::fs::File::create(home.join(LOG)).expect("a file for the log")
}

impl Server {
    /// On a free port.
    pub(crate) fn start(home: &Path) -> Self {
        Self::start_with(home, &[])
    }

    /// On a free port, with more arguments.
    pub(crate) fn start_with(home: &Path, arguments: &[&OsStr]) -> Self {
        Self::start_in(home, arguments, &[])
    }

    /// The same with more variables in its environment.
    pub(crate) fn start_in(home: &Path, arguments: &[&OsStr], variables: &[(&str, String)]) -> Self {
        let mut command = sandgate(home);
        command.args(["serve", "--listen", "127.0.0.1:0"]).args(arguments).stderr(log(home));
        command.envs(variables.iter().map(|(name, value)| (*name, value)));
        Self::ready(command.spawn().expect("the server starts"), home)
    }

    /// For a static, whose destructor never runs.
    pub(crate) fn start_for_good(home: &Path, config: &Path) -> Self {
        let mut command = Command::new("sh");
        command.args(["-c", WITH_ITS_PARENT, env!("CARGO_BIN_EXE_sandgate")]).arg(config);
        command.env("SANDGATE_HOME", home).env_remove("RUST_LOG").env_remove("SANDGATE_MASTER_KEY");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log(home));
        Self::ready(command.spawn().expect("a shell starts"), home)
    }

    fn ready(mut process: Child, home: &Path) -> Self {
        let mut line = String::new();
        let stdout = process.stdout.take().expect("its standard output");
        BufReader::new(stdout).read_line(&mut line).expect("its first line");
        let address = line.trim().strip_prefix("Sandgate is ready on http://");
        let said = || std::fs::read_to_string(home.join(LOG)).unwrap_or_default();
        let address = address.unwrap_or_else(|| panic!("not ready: {line:?} {}", said()));
        Self { address: address.parse().expect("an address"), process }
    }

    pub(crate) fn pid(&self) -> Pid {
        pid(&self.process)
    }

    /// Its exit status, once it is over.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        self.process.wait().expect("its end")
    }

    /// Ends it as the power of a machine does.
    pub(crate) fn kill_9(mut self) {
        self.process.kill().expect("SIGKILL");
        self.process.wait().expect("its end");
    }

    /// Ends it as an operator does.
    pub(crate) fn terminate(mut self) -> bool {
        kill_process(self.pid(), Signal::TERM).expect("SIGTERM");
        self.wait().success()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Already over in most tests.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

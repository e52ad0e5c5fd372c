//! The plain tools of the same runtimes, started by hand: no sandbox, no limits, nothing kept.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use sandgate_engine::runtime::PythonRuntime;

use super::trials::Trial;
use crate::bench::cells::milliseconds;
use crate::ground::Ground;

pub(super) struct Bare {
    runtimes: PathBuf,
    python: PathBuf,
    folder: PathBuf,
}

impl Bare {
    pub(super) fn prepare(ground: &Ground, python: &PythonRuntime) -> Result<Self> {
        let folder = ground.target.join("bench-languages");
        // Caches from an earlier run are no part of this one.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder)?;
        let runtimes = ground.test_home().join("runtimes/languages");
        Ok(Self { runtimes, python: python.venv.join("bin/python3"), folder })
    }

    /// Milliseconds from the start to the end; the answer must be right.
    pub(super) fn run(&self, trial: &Trial, number: usize) -> Result<f64> {
        let program = trial.program(number);
        let (mut command, input) = self.command(trial.name, &program)?;
        command.current_dir(&self.folder).env("HOME", &self.folder);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let begun = Instant::now();
        let mut child =
            command.spawn().with_context(|| format!("cannot start the tool of {}", trial.name))?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(input.as_bytes())?;
        }
        let output = child.wait_with_output()?;
        let took = milliseconds(begun);
        let (said, expected) = (String::from_utf8_lossy(&output.stdout), trial.expected(number));
        ensure!(said.trim_end() == expected, "{} by hand said {said:?} instead of {expected}", trial.name);
        Ok(took)
    }

    /// And what it is given to read.
    fn command(&self, language: &str, program: &str) -> Result<(Command, String)> {
        let tool = |path: &str| Command::new(self.runtimes.join(path));
        let mut input = String::new();
        let mut command = match language {
            "python" => Command::new(&self.python),
            "bash" => Command::new("bash"),
            "javascript" | "typescript" => tool("node/bin/node"),
            "java" => tool("java/bin/jshell"),
            "go" => tool("go/bin/go"),
            _ => tool("r/bin/R"),
        };
        match language {
            "python" => command.args(["-I", "-c", program]),
            "bash" => command.args(["-c", program]),
            "javascript" => command.args(["-e", program]),
            "typescript" => command.args(["--no-warnings", "--input-type=module-typescript", "-e", program]),
            "java" => {
                input = format!("{program}\n");
                command.args(["-s", "-"])
            }
            "go" => {
                fs::write(self.folder.join("main.go"), program)?;
                // The standard library is built once, in the round that does not count.
                command.args(["run", "main.go"]).env("GOCACHE", self.folder.join("go-build"));
                command.env("GOTOOLCHAIN", "local").env("CGO_ENABLED", "0").env("GOFLAGS", "-mod=mod")
            }
            _ => command.args(["--no-echo", "--vanilla", "-e", program]),
        };
        Ok((command, input))
    }
}

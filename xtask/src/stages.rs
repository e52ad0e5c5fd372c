//! What `cargo xtask test` does, in order: what fails fast comes first.

use std::collections::VecDeque;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::anyhow;
use clap::builder::PossibleValuesParser;
use sandgate_engine::runtime::find_interpreter;

use crate::counts::Counts;
use crate::ground::Ground;
use crate::run::{counted, counted_aside, must, name_of, works};
use crate::say::{pass_through, say};
use crate::tree::Changes;
use crate::{apt, fuzz, runtime, sdk};

/// Why a stage failed, and what its tests said before.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) error: anyhow::Error,
    pub(crate) counts: Counts,
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self { error: error.into(), counts: Counts::default() }
    }
}

type Outcome = Result<Counts, Failure>;

#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// Also gets what had changed in the work tree before the first stage.
    pub(crate) run: fn(&Ground, Option<&Changes>) -> Outcome,
}

pub(crate) const STAGES: [Stage; 13] = [
    Stage { name: "host", about: "packages of the host that the tests need", run: host },
    Stage { name: "fmt", about: "formatting", run: fmt },
    Stage { name: "clippy", about: "lints, warnings denied", run: clippy },
    Stage { name: "doc", about: "documentation, warnings denied", run: doc },
    Stage { name: "runtime", about: "the runtimes of all languages that the tests share", run: runtimes },
    Stage { name: "python", about: "the kernel's own tests, in every language", run: python },
    Stage {
        name: "cargo",
        about: "unit, property and integration tests; real engines are started",
        run: cargo,
    },
    Stage {
        name: "sdk",
        about: "the unmodified SDKs of clients, Python and Node, against the real program",
        run: client_sdks,
    },
    Stage {
        name: "e2b",
        about: "the unmodified SDKs of E2B, new and older, against the real program; COMPATIBILITY.md",
        run: e2b_sdks,
    },
    Stage {
        name: "opensandbox",
        about: "the unmodified SDKs of OpenSandbox and LiteLLM's client of it, against the real program",
        run: opensandbox_sdks,
    },
    Stage { name: "console", about: "the console of the real program, in a real Chromium", run: console },
    Stage {
        name: "fuzz",
        about: "each fuzz target builds and passes the inputs kept with it",
        run: fuzz_targets,
    },
    Stage { name: "tree", about: "nothing new in the work tree", run: tree },
];

pub(crate) fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(STAGES.iter().map(|stage| stage.name))
}

fn host(_: &Ground, _: Option<&Changes>) -> Outcome {
    // Debian cuts this out of Python; without it another, slower Python would be chosen, or none.
    let system = Path::new("/usr/bin/python3");
    let whole = || works(Command::new(system).args(["-I", "-c", "import venv, ensurepip"]));
    if (system.exists() && !whole()) || find_interpreter().is_err() {
        apt::install(&["python3", "python3-venv"], "the Python runtime")?;
    }
    say(&find_interpreter()?.why);
    let there = |program: &str| works(Command::new(program).arg("--version"));
    if !there("node") || !there("npm") {
        apt::install(&["nodejs", "npm"], "the tests of the Node clients")?;
    }
    Ok(Counts::default())
}

fn fmt(ground: &Ground, _: Option<&Changes>) -> Outcome {
    must(ground.cargo(&["fmt", "--all", "--check"]))?;
    must(ground.cargo(&["fmt", "--manifest-path", "fuzz/Cargo.toml", "--check"]))?;
    Ok(Counts::default())
}

fn clippy(ground: &Ground, _: Option<&Changes>) -> Outcome {
    must(ground.cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))?;
    Ok(Counts::default())
}

fn doc(ground: &Ground, _: Option<&Changes>) -> Outcome {
    let mut command = ground.cargo(&["doc", "--workspace", "--no-deps"]);
    command.env("RUSTDOCFLAGS", "-D warnings");
    must(command)?;
    Ok(Counts::default())
}

fn runtimes(ground: &Ground, _: Option<&Changes>) -> Outcome {
    say(&runtime::shared(ground)?.why);
    runtime::languages(ground)?;
    Ok(Counts::default())
}

fn python(ground: &Ground, _: Option<&Changes>) -> Outcome {
    let runtime = runtime::shared(ground)?;
    let languages = runtime::languages(ground)?;
    let temporary = ground.target.join("test-tmp");
    // What an earlier run left.
    let _ = std::fs::remove_dir_all(&temporary);
    std::fs::create_dir_all(&temporary)?;
    let mut command = Command::new(runtime.venv.join("bin/python3"));
    command
        .args(["-m", "unittest", "discover", "tests"])
        .current_dir(ground.root.join("runtimes/python"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("TMPDIR", &temporary)
        .env("SANDGATE_RUNTIMES", &languages)
        .env_remove("KERNEL_TEST_MODE");
    let outcome = tested(command);
    let _ = std::fs::remove_dir_all(&temporary);
    outcome
}

fn cargo(ground: &Ground, _: Option<&Changes>) -> Outcome {
    let mut command = ground.cargo(&["test", "--workspace", "--no-fail-fast"]);
    command.env("SANDGATE_TEST_HOME", ground.test_home());
    tested(command)
}

fn client_sdks(ground: &Ground, _: Option<&Changes>) -> Outcome {
    let runtime = runtime::shared(ground)?;
    must(ground.cargo(&["build", "-p", "sandgate", "-p", "sandgate-testkit", "--bins"]))?;
    all_tested([sdk::python(ground, &runtime)?, sdk::node(ground)?])
}

fn e2b_sdks(ground: &Ground, _: Option<&Changes>) -> Outcome {
    let runtime = runtime::shared(ground)?;
    must(ground.cargo(&["build", "-p", "sandgate", "--bins"]))?;
    let (suites, words): (Vec<Command>, Vec<_>) = sdk::e2b::suites(ground, &runtime)?.into_iter().unzip();
    let counts = all_tested(suites)?;
    sdk::e2b::compare(ground, &words).map_err(|error| Failure { error, counts })?;
    Ok(counts)
}

fn opensandbox_sdks(ground: &Ground, _: Option<&Changes>) -> Outcome {
    let runtime = runtime::shared(ground)?;
    must(ground.cargo(&["build", "-p", "sandgate", "--bins"]))?;
    all_tested(sdk::opensandbox::suites(ground, &runtime)?)
}

fn console(ground: &Ground, _: Option<&Changes>) -> Outcome {
    let runtime = runtime::shared(ground)?;
    if !works(Command::new("chromium").arg("--version")) {
        apt::install(&["chromium", "fonts-dejavu-core"], "the tests of the console")?;
    }
    must(ground.cargo(&["build", "-p", "sandgate", "--bins"]))?;
    tested(sdk::console(ground, &runtime)?)
}

/// Two at a time, because each mostly waits for what it started. Each has its say, also after another failed.
fn all_tested(suites: impl IntoIterator<Item = Command>) -> Outcome {
    let waiting = Mutex::new(suites.into_iter().collect::<VecDeque<_>>());
    let outcomes = Mutex::new(Vec::new());
    // A call of its own: in the head of a loop the lock would be held for as long as the suite runs.
    let next = || locked(&waiting).pop_front();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(suite) = next() {
                    let outcome = tested_aside(suite);
                    locked(&outcomes).push(outcome);
                }
            });
        }
    });
    let mut counts = Counts::default();
    let mut failed = None;
    for outcome in locked(&outcomes).drain(..) {
        match outcome {
            Ok(more) => counts += more,
            Err(Failure { error, counts: more }) => {
                counts += more;
                failed = Some(error);
            }
        }
    }
    failed.map_or(Ok(counts), |error| Err(Failure { error, counts }))
}

/// A thread that panicked has broken nothing that is in here.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn tested_aside(command: Command) -> Outcome {
    let name = name_of(&command);
    let place = command.get_current_dir().map(|folder| folder.display().to_string()).unwrap_or_default();
    say(&format!("--- `{name}` in {place} has begun; what it says comes when it ends"));
    let (status, counts, said) = counted_aside(command)?;
    pass_through(&said);
    say(&format!("--- `{name}` in {place}: {status}"));
    verdict(status, counts)
}

fn tested(command: Command) -> Outcome {
    let (status, counts) = counted(command)?;
    verdict(status, counts)
}

fn verdict(status: ExitStatus, counts: Counts) -> Outcome {
    if status.success() {
        return Ok(counts);
    }
    let error = match counts.failed {
        0 => anyhow!("it did not get as far as its tests, or broke off; the reason is above"),
        1 => anyhow!("a test failed; its output is above"),
        many => anyhow!("{many} tests failed; their output is above"),
    };
    Err(Failure { error, counts })
}

fn fuzz_targets(ground: &Ground, _: Option<&Changes>) -> Outcome {
    fuzz::replay(ground)?;
    Ok(Counts::default())
}

fn tree(ground: &Ground, before: Option<&Changes>) -> Outcome {
    let (Some(before), Some(now)) = (before, Changes::now(&ground.root)) else {
        say("this is no Git work tree: not checked");
        return Ok(Counts::default());
    };
    let made = now.since(before);
    if made.is_empty() { Ok(Counts::default()) } else { Err(left_behind(&made).into()) }
}

fn left_behind(paths: &[String]) -> anyhow::Error {
    anyhow!("tests left these in the work tree: {}", paths.join(", "))
}

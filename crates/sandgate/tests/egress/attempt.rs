//! One attempt, as its file says it, and how it is run.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::thread;

use crate::world::{Server, WORLD};

/// Fewer means that they were not found. Whoever adds one raises it.
pub(crate) const COUNT: usize = 102;
/// At once.
const WORKERS: usize = 3;
/// What a sandbox beside those of the attempts listens on.
pub(crate) const NEIGHBOUR_PORT: u16 = 8899;

/// What becomes of an attempt where nothing is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Control {
    /// It gets through, so a policy is what stops it.
    Escapes,
    /// It comes to nothing there too.
    Blocked,
    /// It would knock at doors of real machines.
    NotRun,
}

pub(crate) struct Attempt {
    pub(crate) name: String,
    pub(crate) control: Control,
    pub(crate) blocked: Vec<String>,
    pub(crate) text: String,
}

pub(crate) fn all() -> Vec<Attempt> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/egress/attempts");
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let mut attempts: Vec<_> = files
        .filter(|path| path.extension().is_some_and(|kind| kind == "py"))
        .map(|path| read(&path))
        .collect();
    attempts.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(attempts.len() >= COUNT, "only {} attempts", attempts.len());
    attempts
}

fn read(path: &Path) -> Attempt {
    let text = fs::read_to_string(path).unwrap();
    let header = |wanted: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("# {wanted}: ")));
        line.unwrap_or_else(|| panic!("{}: no '{wanted}'", path.display())).to_owned()
    };
    header("tries");
    let control = match header("control") {
        said if said == "escapes" => Control::Escapes,
        said if said.starts_with("blocked because ") => Control::Blocked,
        said if said.starts_with("not run because ") => Control::NotRun,
        said => panic!("{}: '{said}' is no control", path.display()),
    };
    Attempt {
        name: path.file_stem().unwrap().to_string_lossy().into_owned(),
        control,
        blocked: header("blocked").split('|').map(str::to_owned).collect(),
        text,
    }
}

/// The whole program of an attempt.
fn program(attempt: &Attempt, server: &Server) -> String {
    let prelude = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/egress/prelude.py");
    let mut program = format!("{}{}", fs::read_to_string(prelude).unwrap(), attempt.text);
    let placeholders = [
        ("GOOD", WORLD.good.to_string()),
        ("BAD", WORLD.bad.to_string()),
        ("HOST_PORT", WORLD.host_port.to_string()),
        ("SERVER_PORT", server.address.port().to_string()),
        ("SECRET_REVERSED", WORLD.secret.chars().rev().collect()),
        ("ABSTRACT_SOCKET", WORLD.abstract_socket.clone()),
        ("NEIGHBOUR_PORT", NEIGHBOUR_PORT.to_string()),
        ("OWN", WORLD.own.ip().to_string()),
        ("OWN_PORT", WORLD.own.port().to_string()),
    ];
    for (name, value) in placeholders {
        program = program.replace(&format!("{{{{{name}}}}}"), &value);
    }
    assert!(!program.contains("{{"), "{}: a placeholder is not known", attempt.name);
    program
}

/// Runs them all and gathers what is not as it should be.
pub(crate) fn run(
    server: &Server,
    network: &[&str],
    attempts: &[Attempt],
    is_right: impl Fn(&Attempt, &str) -> bool + Sync,
) -> String {
    let waiting = Mutex::new(attempts.iter());
    let wrong = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                loop {
                    let Some(attempt) = waiting.lock().unwrap().next() else { return };
                    let answer = server.run(&program(attempt, server), network);
                    let said = answer["stdout"].as_str().unwrap_or_default().trim();
                    let said = if said.is_empty() { answer.to_string() } else { said.to_owned() };
                    if !is_right(attempt, &said) {
                        let wanted = attempt.blocked.join("|");
                        wrong.lock().unwrap().push(format!("{}: {said} (inside: {wanted})", attempt.name));
                    }
                }
            });
        }
    });
    let mut wrong = wrong.into_inner().unwrap();
    wrong.sort();
    let mut text = String::new();
    for line in wrong {
        let _ = writeln!(text, "{line}");
    }
    text
}

/// For which reason it was stopped, if it was.
pub(crate) fn stopped_by(said: &str) -> Option<&str> {
    said.strip_prefix("BLOCKED ")
}

//! The attempts, under the policy and in the control run.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::thread;

use serde_json::{Value, json};

use crate::world::{POLICY, Server, WORLD, printed};

/// Fewer means that they were not found.
const AT_LEAST: usize = 60;
/// At once.
const WORKERS: usize = 3;
const NEIGHBOUR_PORT: u16 = 8899;

struct Attempt {
    name: String,
    /// Gets through where the policy is open.
    escapes: bool,
    blocked: Vec<String>,
    text: String,
}

fn all() -> Vec<Attempt> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/egress/attempts");
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let mut attempts: Vec<_> = files
        .filter(|path| path.extension().is_some_and(|kind| kind == "py"))
        .map(|path| read(&path))
        .collect();
    attempts.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(attempts.len() >= AT_LEAST, "only {} attempts", attempts.len());
    attempts
}

fn read(path: &Path) -> Attempt {
    let text = fs::read_to_string(path).unwrap();
    let header = |wanted: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("# {wanted}: ")));
        line.unwrap_or_else(|| panic!("{}: no '{wanted}'", path.display())).to_owned()
    };
    header("tries");
    let control = header("control");
    assert!(control == "escapes" || control.starts_with("blocked because "), "{}", path.display());
    Attempt {
        name: path.file_stem().unwrap().to_string_lossy().into_owned(),
        escapes: control == "escapes",
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
fn run(
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

/// Another sandbox with something that listens.
fn neighbour(server: &Server) -> Value {
    let code = format!(
        "import http.server, threading\n\
         class Page(http.server.BaseHTTPRequestHandler):\n\
         \x20   def do_GET(self):\n\
         \x20       self.send_response(200); self.end_headers(); self.wfile.write({:?}[::-1].encode())\n\
         server = http.server.ThreadingHTTPServer(('0.0.0.0', {NEIGHBOUR_PORT}), Page)\n\
         threading.Thread(target=server.serve_forever, daemon=True).start()\n\
         print('listens')",
        WORLD.secret.chars().rev().collect::<String>()
    );
    let answer = server.run(&code, &POLICY);
    assert_eq!(printed(&answer), "listens");
    answer
}

#[test]
fn every_attempt_is_stopped_for_its_own_reason() {
    let server = Server::under_policy("attempts");
    neighbour(&server);
    let wrong = run(&server, &POLICY, &all(), |attempt, said| {
        said.strip_prefix("BLOCKED ").is_some_and(|why| attempt.blocked.iter().any(|right| right == why))
    });
    assert!(wrong.is_empty(), "\n{wrong}");
    // What was refused was counted and written down, and nothing of it is the secret.
    let metrics = server.metrics();
    assert!(metrics.contains(r#"sandgate_connections_total{way="connect",verdict="denied"}"#), "{metrics}");
    let (status, records) =
        server.ask("GET", "/v1/ledger?kind=connection&status=denied&limit=100", &Value::Null);
    assert_eq!(status, 200, "{records}");
    let text = records.to_string();
    assert!(text.contains("forbidden.test") && text.contains("no rule allows"), "{text}");
    assert!(!text.contains(&WORLD.secret), "the secret is in the ledger");
}

/// With everything open, the attempts that a policy is to stop get through: they are real.
#[test]
fn the_attempts_work_where_nothing_is_closed() {
    let names = WORLD.names;
    let everything = json!({"ceiling": ["open"], "allow_private": ["0.0.0.0/0", "::/0"], "dns": [names]});
    let server = Server::start("control", &everything);
    let attempts: Vec<_> = all().into_iter().filter(|attempt| attempt.escapes).collect();
    assert!(attempts.len() >= AT_LEAST / 3, "only {} would escape", attempts.len());
    let wrong = run(&server, &["open"], &attempts, |_, said| said.starts_with("ESCAPED "));
    assert!(wrong.is_empty(), "\n{wrong}");
}

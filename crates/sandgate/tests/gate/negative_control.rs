//! The negative control: with the sandbox out of reach, every API says so, streamed and not, nothing is made
//! up, and nobody but the model that was meant is ever asked.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufReader, Read};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use sandgate_testkit::Turn;
use serde_json::{Value, json};

use crate::common::{Client, OUTPUTS, World, chat_request, failure_of, system, wait_until};

const CODE: &str = "print(6 * 7)";
/// What only a sandbox could have said.
const MADE_UP: &str = "42";

/// Takes away what makes sandboxes, and those that were ready, under the running server.
fn lose_sandboxes(world: &World) {
    let server = world.pid().as_raw_nonzero().get();
    wait_until("every process of the engine is gone", || {
        let left = system::descendants(server);
        for process in left.iter().filter(|process| process.lives()) {
            // Some went with their parents.
            let _ = kill_process(Pid::from_raw(process.pid).expect("a process id"), Signal::KILL);
        }
        !left.iter().any(system::Process::lives)
    });
}

/// Whom the server is connected to, besides those who came to it, looked at again and again.
struct Peers {
    stop: Arc<AtomicBool>,
    watching: thread::JoinHandle<BTreeSet<String>>,
}

impl Peers {
    fn watch(pid: i32, own: SocketAddr) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&stop);
        let watching = thread::spawn(move || {
            let mut seen = BTreeSet::new();
            while !ends.load(Ordering::Relaxed) {
                seen.extend(peers(pid, own.port()));
                thread::sleep(Duration::from_millis(2));
            }
            seen
        });
        Self { stop, watching }
    }

    fn seen(self) -> BTreeSet<String> {
        self.stop.store(true, Ordering::Relaxed);
        self.watching.join().unwrap()
    }
}

/// By the tables of the kernel: address and port in hexadecimal, as it writes them.
fn peers(pid: i32, own_port: u16) -> BTreeSet<String> {
    let sockets: BTreeSet<String> = fs::read_dir(format!("/proc/{pid}/fd"))
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| fs::read_link(entry.path()).ok())
        .filter_map(|link| Some(link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned()))
        .collect();
    let mut found = BTreeSet::new();
    for table in ["tcp", "tcp6", "udp", "udp6"] {
        let text = fs::read_to_string(format!("/proc/{pid}/net/{table}")).unwrap_or_default();
        for line in text.lines().skip(1) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let [local, remote, inode] = [1, 2, 9].map(|at| fields[at]);
            let is_ours = local.ends_with(&format!(":{own_port:04X}"));
            if sockets.contains(inode) && !is_ours && !remote.ends_with(":0000") {
                found.insert(remote.to_owned());
            }
        }
    }
    found
}

fn hex(address: &str) -> String {
    let address: SocketAddr = address.parse().unwrap();
    let SocketAddr::V4(address) = address else { panic!("{address}") };
    format!("{:08X}:{:04X}", u32::from_le_bytes(address.ip().octets()), address.port())
}

fn turns() -> [Turn; 2] {
    [Turn::code(CODE), Turn::text("The answer is 42.")]
}

/// One request: the model is asked once, and neither it nor the client is told of a result that there was not.
#[track_caller]
fn fails(world: &World, client: &Client, ask: impl Fn(&Client) -> String) {
    world.model.script(&client.key, turns());
    let before = world.asked(client).len();
    let said = ask(client);
    assert!(said.contains("sandbox") || said.contains("server had an error"), "{said}");
    assert!(!said.contains(MADE_UP), "{said}");
    assert_eq!(world.asked(client).len(), before + 1, "the model is not asked to go on: {said}");
    assert_eq!(world.model.turns_left(&client.key), 1);
}

/// On both APIs, whole and streamed.
#[track_caller]
fn fails_everywhere(world: &World, client: &Client, fields: &Value) {
    let message = |error: Value| error["message"].as_str().unwrap().to_owned();
    fails(world, client, |client| message(client.create(fields.clone()).refused(500)));
    fails(world, client, |client| failure_of(&client.stream(fields.clone())));
    fails(world, client, |client| message(client.chat(fields.clone()).refused(500)));
    fails(world, client, |client| message(client.chat_stream(fields.clone()).chat_failure()));
}

#[test]
fn without_a_sandbox_nothing_is_made_up_and_nobody_else_is_asked() {
    let world = World::with("responses", "");
    let client = world.client(turns());
    let made = client.post("/v1/containers", &json!({"name": "mine"})).ok();
    let explicit = json!({"tools": [{"type": "code_interpreter", "container": made["id"]}]});
    let mut shown = explicit.clone();
    shown["include"] = json!([OUTPUTS]);
    let answer = client.respond(shown);
    assert!(answer["output"][0]["outputs"].to_string().contains(MADE_UP), "the control of the control");

    lose_sandboxes(&world);
    wait_until("the server notices", || client.get("/health").status == 503);
    let peers = Peers::watch(world.pid().as_raw_nonzero().get(), client.address);
    fails_everywhere(&world, &world.client([]), &json!({}));
    fails_everywhere(&world, &client, &explicit);
    // Without a model in between, too.
    for stream in [false, true] {
        let answer = client.post("/v1/execute", &json!({"code": CODE, "stream": stream}));
        assert!(answer.status >= 500, "{} {}", answer.status, answer.text());
        assert!(!answer.text().contains(MADE_UP), "{}", answer.text());
    }
    let answer = client.post("/v1/containers", &json!({"name": "another"}));
    assert!(answer.status >= 500, "{}", answer.text());
    // What needs no sandbox goes on.
    world.model.script(&client.key, [Turn::text("hello")]);
    let plain = client.post("/v1/responses", &json!({"model": "m", "input": "hi"})).ok();
    assert!(plain.to_string().contains("hello"));
    let model = world.model.base_url();
    let model = model.trim_start_matches("http://").split('/').next().unwrap().to_owned();
    assert_eq!(peers.seen(), BTreeSet::from([hex(&model)]), "only the model was asked");
}

#[test]
fn a_sandbox_that_is_lost_while_code_runs_is_no_ending_of_the_code() {
    let world = World::with("responses", "");
    let sleeps = || [Turn::code("import time\ntime.sleep(600)"), Turn::text("The answer is 42.")];
    let (client, chat) = (world.client(sleeps()), world.client(sleeps()));
    let mut stream = client.open_stream(json!({}));
    let mut events = vec![stream.until("response.created"), stream.until("response.in_progress")];
    stream.until("response.code_interpreter_call.interpreting");
    let body = chat_request(json!({})).to_string();
    let whole = chat.send("POST", "/v1/chat/completions", "application/json", body.as_bytes());
    wait_until("both run", || {
        client.get("/metrics").text().lines().any(|line| line == "sandgate_sandboxes_live 2")
    });
    lose_sandboxes(&world);
    while let Some(event) = stream.next() {
        events.push(event);
    }
    let said = failure_of(&events);
    assert!(said.contains("sandbox"), "{said}");
    let mut answer = String::new();
    BufReader::new(whole).read_to_string(&mut answer).unwrap();
    assert!(answer.contains(" 500 ") && !answer.contains("The answer"), "{answer}");
    for client in [&client, &chat] {
        assert_eq!(world.asked(client).len(), 1, "the model is not asked to go on");
    }
}

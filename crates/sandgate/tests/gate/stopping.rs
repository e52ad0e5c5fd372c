//! The end of a server: what runs ends well within the grace, new work is told to come back, what takes too
//! long is told so, and nothing is left running.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};

use rustix::process::Signal;
use sandgate_testkit::Turn;
use serde_json::{Value, json};

use crate::common::{Client, LONGEST, World, chat_request, system, wait_until};

/// Code that goes on when the test lets it.
const WAITS: &str = "import os, time\nopen('/mnt/data/waiting', 'w').close()\n\
                     while not os.path.exists('/mnt/data/go'):\n    time.sleep(0.05)\nprint('went on')";
const SLEEPS: &str = "import time\nprint('asleep')\ntime.sleep(600)";

/// The folder in which code waits, as the host sees it.
fn waiting_in(home: &Path) -> Option<PathBuf> {
    let mut folders = vec![home.join("sandboxes")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            if entry.file_name() == "waiting" {
                return Some(folder);
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(entry.path());
            }
        }
    }
    None
}

fn stop(world: &World, client: &Client) {
    world.signal(Signal::TERM);
    wait_until("the server stops", || client.get("/health").status == 503);
}

#[track_caller]
fn is_refused(client: &Client, path: &str, body: &Value) {
    let answer = client.post(path, body);
    let error = answer.refused(503);
    assert!(answer.head.contains("retry-after: "), "{path}: {}", answer.head);
    assert_eq!((&error["type"], &error["code"]), (&json!("server_error"), &json!("shutting_down")), "{path}");
}

/// A connection that a client keeps open between its requests.
struct Kept(BufReader<TcpStream>);

impl Kept {
    fn open(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(LONGEST)).unwrap();
        Self(BufReader::new(stream))
    }

    fn ask(&mut self, path: &str) -> String {
        let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer k\r\n\r\n");
        self.0.get_mut().write_all(request.as_bytes()).unwrap();
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(self.0.read_line(&mut head).unwrap() > 0, "closed after {head:?}");
        }
        let head = head.to_ascii_lowercase();
        let length = head.split("content-length: ").nth(1).unwrap().split("\r\n").next().unwrap();
        let mut body = vec![0; length.parse().unwrap()];
        self.0.read_exact(&mut body).unwrap();
        head
    }
}

#[test]
fn what_is_under_way_ends_well_while_new_work_is_refused() {
    let mut world = World::with("responses", "stop_grace_seconds: 600");
    let client = world.client([Turn::code(WAITS), Turn::text("done")]);
    let mut kept = Kept::open(client.address);
    assert!(kept.ask("/v1/containers").starts_with("http/1.1 200"));
    let mut stream = client.open_stream(json!({}));
    stream.until("response.code_interpreter_call.interpreting");
    wait_until("the code waits", || waiting_in(world.home()).is_some());
    stop(&world, &client);

    let health = client.get("/health");
    assert_eq!((health.status, &health.json()["status"]), (503, &json!("stopping")));
    is_refused(&client, "/v1/responses", &json!({"model": "m", "input": "x"}));
    is_refused(&client, "/v1/chat/completions", &chat_request(json!({})));
    is_refused(&client, "/v1/execute", &json!({"code": "1"}));
    is_refused(&client, "/v1/containers", &json!({"name": "n"}));
    // On a connection that was there before too; and the client is told to use it no more.
    let head = kept.ask("/v1/containers");
    assert!(head.starts_with("http/1.1 503") && head.contains("retry-after: "), "{head}");
    assert!(head.contains("connection: close"), "{head}");

    fs::write(waiting_in(world.home()).unwrap().join("go"), "").unwrap();
    let completed = stream.until("response.completed");
    assert_eq!(completed["response"]["output"][1]["content"][0]["text"], "done");
    assert!(stream.next().is_none());
    let container = completed["response"]["output"][0]["container_id"].as_str().unwrap().to_owned();
    assert!(world.ended().success());
    assert_eq!(world.asked(&client).len(), 2, "nothing of what was refused reached the model");

    // Containers are kept.
    world.start_again();
    let client = world.again(&client);
    let files = client.get(&format!("/v1/containers/{container}/files")).ok();
    assert!(files.to_string().contains("/mnt/data/waiting"), "{files}");
}

#[test]
fn what_takes_longer_than_the_grace_is_told_so_and_nothing_is_left() {
    let mut world = World::with("responses", "stop_grace_seconds: 1");
    let sleepers: Vec<Client> =
        (0..5).map(|_| world.client([Turn::code(SLEEPS), Turn::text("never")])).collect();
    let [streamed, whole, chat, chat_whole, background] = &sleepers[..] else { panic!() };
    let mut stream = streamed.open_stream(json!({}));
    let first = stream.until("response.created");
    stream.until("response.code_interpreter_call.interpreting");
    let request = json!({"model": "m", "input": "x", "tools": crate::common::code_tool()});
    let send = |client: &Client, path: &str, body: &Value| {
        client.send("POST", path, "application/json", body.to_string().as_bytes())
    };
    let whole_answer = send(whole, "/v1/responses", &request);
    let chat_answer = send(chat, "/v1/chat/completions", &chat_request(json!({"stream": true})));
    let chat_whole_answer = send(chat_whole, "/v1/chat/completions", &chat_request(json!({})));
    let execute = send(streamed, "/v1/execute", &json!({"code": SLEEPS, "stream": true}));
    let execute_whole = send(streamed, "/v1/execute", &json!({"code": SLEEPS}));
    let in_background = background.create(json!({"background": true})).ok();
    // The five of the model, and the two without one.
    wait_until("all are at work", || {
        let counted = streamed.get("/metrics").text();
        let under_way = "sandgate_sandboxes_live ";
        let live = counted.lines().find_map(|line| line.strip_prefix(under_way)).unwrap_or_default();
        live.parse() == Ok(7)
    });
    let below = system::descendants(world.pid().as_raw_nonzero().get());
    assert!(below.len() > 7, "{below:?}");
    let engines = system::instances(world.home());
    assert!(!engines.is_empty());
    world.signal(Signal::TERM);

    let mut events = vec![first.clone()];
    while let Some(event) = stream.next() {
        events.push(event);
    }
    let kinds: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(kinds[kinds.len() - 2..], ["error", "response.failed"]);
    let failed = &events.last().unwrap()["response"];
    assert_eq!(failed["status"], "failed");
    assert!(failed["error"]["message"].as_str().unwrap().contains("server was stopped"), "{failed}");
    let read = |mut stream: TcpStream| {
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    };
    for answer in [whole_answer, chat_whole_answer, execute_whole].map(read) {
        let head = answer.to_ascii_lowercase();
        assert!(head.contains(" 503 ") && head.contains("retry-after: "), "{answer}");
        assert!(answer.contains("\"shutting_down\""), "{answer}");
    }
    let chat_answer = read(chat_answer);
    let last = chat_answer.trim_end().rsplit_once("data: ").unwrap().1;
    let last: Value = serde_json::from_str(last).unwrap();
    assert!(last["error"]["message"].as_str().unwrap().contains("server was stopped"), "{chat_answer}");
    let execute = read(execute);
    assert!(execute.contains("event: failure") && execute.contains("shutting_down"), "{execute}");

    let log = world.log();
    assert!(world.ended().success(), "{log}");
    wait_until("nothing is left running", || !below.iter().any(system::Process::lives));
    for engine in engines {
        assert_eq!(system::groups(&engine), Vec::<PathBuf>::new(), "control groups are left");
    }

    world.start_again();
    let of = |client: &Client| world.again(client);
    let id = in_background["id"].as_str().unwrap();
    let stored = of(background).get(&format!("/v1/responses/{id}")).ok();
    assert_eq!((&stored["status"], &stored["error"]["code"]), (&json!("failed"), &json!("server_error")));
    let id = first["response"]["id"].as_str().unwrap();
    assert_eq!(of(streamed).get(&format!("/v1/responses/{id}")).ok()["status"], "failed");
    // Made for a request that was cut off before anybody heard of them.
    for client in [whole, chat_whole] {
        assert_eq!(of(client).get("/v1/containers").ok()["data"], json!([]));
    }
}

#[test]
fn a_second_signal_waits_for_nobody() {
    let mut world = World::with("responses", "stop_grace_seconds: 600");
    let client = world.client([Turn::code(SLEEPS), Turn::text("never")]);
    let mut stream = client.open_stream(json!({}));
    stream.until("response.code_interpreter_call.interpreting");
    stop(&world, &client);
    world.signal(Signal::INT);
    stream.until("response.failed");
    assert!(world.ended().success());
}

#[test]
fn a_server_with_nothing_to_do_ends_at_once() {
    let mut world = World::with("responses", "stop_grace_seconds: 600");
    let client = world.client([]);
    let mut kept = Kept::open(client.address);
    kept.ask("/v1/containers");
    world.signal(Signal::TERM);
    assert!(world.ended().success());
}

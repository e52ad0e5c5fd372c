//! The server as a client meets it: the real program, spoken to over its port.

use std::io::{BufRead, BufReader, Read as _, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::LazyLock;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::{LONGEST, Server, run, scratch_home, system, wait_until};

/// One server for all tests here; it goes when this process does.
static SERVER: LazyLock<(Server, TempDir)> = LazyLock::new(|| {
    let home = run(scratch_home());
    let config = home.path().join("config.yaml");
    std::fs::write(&config, "pool: 2\nlimits: {code_bytes: 100000, wall: 30}\n").expect("a configuration");
    (Server::start_for_good(home.path(), &config), home)
});

fn server() -> SocketAddr {
    SERVER.0.address
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    head: String,
    body: String,
}

impl Answer {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("not JSON: {self:?}"))
    }

    /// Asserts that it is a refusal of this kind, and gives its sentence.
    #[track_caller]
    fn refused(&self, status: u16, code: &str) -> String {
        let error = &self.json()["error"];
        assert_eq!((self.status, error["code"].as_str()), (status, Some(code)), "{self:?}");
        error["message"].as_str().expect("a sentence").to_owned()
    }

    /// The name and data of each server-sent event.
    fn events(&self) -> Vec<(String, Value)> {
        let event = |block: &str| {
            let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
            Some((field("event:")?.to_owned(), serde_json::from_str(field("data:")?).expect("JSON")))
        };
        self.body.split("\n\n").filter_map(event).collect()
    }
}

/// A connection on which a request was sent. By the old version, whose answers end with the connection.
fn send(address: SocketAddr, method: &str, target: &str, headers: &str, body: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.set_read_timeout(Some(LONGEST)).expect("a timeout");
    let head = format!(
        "{method} {target} HTTP/1.0\r\nhost: {address}\r\ncontent-length: {}\r\n{headers}\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).expect("the head is sent");
    // A server that has refused already may not read the rest.
    let _ = stream.write_all(body);
    stream
}

fn ask(method: &str, target: &str, headers: &str, body: &[u8]) -> Answer {
    answer(send(server(), method, target, headers, body))
}

fn answer(mut stream: TcpStream) -> Answer {
    let mut bytes = Vec::new();
    let read = stream.read_to_end(&mut bytes);
    let text = String::from_utf8(bytes).expect("text");
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {read:?} {text:?}"));
    let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).expect("a status");
    Answer { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
}

const JSON: &str = "content-type: application/json\r\n";

/// The execute call.
pub(crate) fn post(address: SocketAddr, request: &Value) -> Answer {
    answer(send(address, "POST", "/v1/execute", JSON, request.to_string().as_bytes()))
}

fn execute(request: &Value) -> Answer {
    post(server(), request)
}

fn raw(body: &[u8]) -> Answer {
    ask("POST", "/v1/execute", JSON, body)
}

#[test]
fn the_server_is_healthy() {
    let answer = ask("GET", "/health", "", b"");
    assert_eq!((answer.status, answer.json()["status"].as_str()), (200, Some("ok")));
    assert_eq!(answer.json()["version"], env!("CARGO_PKG_VERSION"));
}

#[test]
fn a_whole_answer() {
    let code = "import sys\nprint('out')\nprint('err', file=sys.stderr)\nopen('f', 'w').write('x')\n6*7";
    let answer = execute(&json!({"code": code, "language": "python"}));
    assert_eq!(answer.status, 200, "{answer:?}");
    let outcome = answer.json();
    assert_eq!(outcome["stdout"], "out\n");
    assert_eq!(outcome["stderr"], "err\n");
    assert_eq!(outcome["results"], json!([{"data": {"text/plain": "42"}, "last_value": true}]));
    assert_eq!(outcome["files"], json!([{"path": "/mnt/data/f", "kind": "created", "size": 1}]));
    assert_eq!(outcome["ending"], json!({"kind": "ok"}));
    assert_eq!(outcome["error"], Value::Null);
    let kinds: Vec<_> =
        outcome["outputs"].as_array().unwrap().iter().map(|one| one["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["stdout", "stderr", "result"]);
}

#[test]
fn a_container_keeps_its_state_and_contexts() {
    let first = execute(&json!({"code": "x = 41"})).json();
    let container = &first["container"];
    let second = execute(&json!({"code": "x + 1", "container": container})).json();
    assert_eq!(
        (&second["container"], &second["results"][0]["data"]["text/plain"]),
        (container, &json!("42"))
    );
    let other = execute(&json!({"code": "x", "container": container, "context": "other"})).json();
    assert_eq!(other["error"]["name"], "NameError");
    let fresh = execute(&json!({"code": "x"})).json();
    assert_eq!(fresh["error"]["name"], "NameError");
    assert_ne!(&fresh["container"], container);
}

#[test]
fn code_that_fails_is_an_answer() {
    let raised = execute(&json!({"code": "1/0"}));
    assert_eq!((raised.status, &raised.json()["ending"]), (200, &json!({"kind": "raised"})));
    assert_eq!(raised.json()["error"]["name"], "ZeroDivisionError");
    let late = execute(&json!({"code": "while True: pass", "timeout": 0.5}));
    assert_eq!((late.status, &late.json()["ending"]), (200, &json!({"kind": "timed_out"})));
    let died = execute(&json!({"code": "import os; os._exit(3)"}));
    assert_eq!(died.json()["ending"], json!({"kind": "exited", "code": 3}));
}

#[test]
fn a_stream_of_events() {
    let answer = execute(&json!({"code": "print('a')\ndisplay(1)\n1/0", "stream": true}));
    assert_eq!(answer.status, 200);
    assert!(answer.head.contains("content-type: text/event-stream"), "{}", answer.head);
    let events = answer.events();
    let names: Vec<_> = events.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["container", "stdout", "display", "error", "done"]);
    assert_eq!(events[1].1, json!({"type": "stdout", "text": "a\n"}));
    assert_eq!(events[4].1["ending"], json!({"kind": "raised"}));
    let container = &events[0].1["id"];
    assert_eq!(execute(&json!({"code": "1", "container": container})).status, 200);
}

/// Reads a stream up to the first event called `name`; gives the data of all before it and of itself.
fn read_until(stream: &TcpStream, name: &str) -> Vec<Value> {
    let mut data = Vec::new();
    let mut wanted = false;
    for line in BufReader::new(stream.try_clone().expect("the stream")).lines() {
        let line = line.expect("a line");
        wanted |= line.strip_prefix("event:").is_some_and(|found| found.trim() == name);
        if let Some(text) = line.strip_prefix("data:") {
            data.push(serde_json::from_str(text).expect("JSON"));
            if wanted {
                return data;
            }
        }
    }
    panic!("the stream ended without {name}: {data:?}");
}

#[test]
fn events_come_as_they_happen() {
    let code = "import os, time\nprint('first')\nwhile not os.path.exists('go'):\n    time.sleep(0.01)\nprint('last')";
    let body = json!({"code": code, "stream": true}).to_string();
    let stream = send(server(), "POST", "/v1/execute", JSON, body.as_bytes());
    let container = read_until(&stream, "stdout")[0]["id"].clone();
    let other = json!({"code": "open('go', 'w').close()", "container": container, "context": "other"});
    assert_eq!(execute(&other).json()["ending"], json!({"kind": "ok"}));
    let mut rest = String::new();
    (&stream).read_to_string(&mut rest).expect("the rest");
    assert!(rest.contains("last") && rest.contains("event: done"), "{rest}");
}

#[test]
fn a_client_that_hangs_up_interrupts_the_code() {
    let made = execute(&json!({"code": "x = 0"})).json();
    let container = made["container"].clone();
    for streamed in [true, false] {
        let code = format!("x += 1\nopen('started{streamed}', 'w').close()\nprint(x)\nwhile True:\n    pass");
        let body = json!({"code": code, "container": container, "stream": streamed}).to_string();
        let stream = send(server(), "POST", "/v1/execute", JSON, body.as_bytes());
        let look = json!({"code": format!("import os\nos.path.exists('started{streamed}')"), "container": container, "context": "other"});
        wait_until("the code runs", || execute(&look).json()["results"][0]["data"]["text/plain"] == "True");
        drop(stream);
        // It would queue behind the loop for ever, had nobody stopped that.
        let next = execute(&json!({"code": "x", "container": container})).json();
        assert_eq!(next["results"][0]["data"]["text/plain"], if streamed { "1" } else { "2" }, "{next}");
        assert_eq!(next["notes"], json!([]), "it was interrupted, not killed");
    }
}

#[test]
fn a_client_that_hangs_up_before_it_heard_of_its_container_leaves_none() {
    // Other tests make containers too, so this one is known by what runs in it.
    let mark = format!("86396.{}", std::process::id());
    let body = json!({"code": format!("import subprocess\nsubprocess.run(['sleep', '{mark}'])")}).to_string();
    let stream = send(server(), "POST", "/v1/execute", JSON, body.as_bytes());
    wait_until("the code runs", || !system::with_argument(&mark).is_empty());
    let runs = &system::with_argument(&mark)[0];
    let sandbox = system::sandbox_of(runs.pid).expect("the group of its sandbox");
    let files = SERVER.1.path().join("sandboxes").join(&sandbox);
    assert!(files.exists());
    drop(stream);
    wait_until("its files are gone", || !files.exists());
    assert_eq!(system::with_argument(&mark), []);
}

#[test]
fn malformed_requests_are_told_what_is_wrong() {
    assert!(raw(b"{\"code\": ").refused(400, "not_json").contains("not valid JSON"));
    assert!(raw(b"[]").refused(400, "not_an_object").contains("JSON object"));
    assert!(raw(b"{\"code\": \"\xff\"}").refused(400, "not_utf8").contains("byte 10"));
    assert!(raw(b"{}").refused(400, "missing_field").contains("'code'"));
    assert!(raw(b"{\"code\": 5}").refused(400, "wrong_type").contains("a string, not a number"));
    let unknown = execute(&json!({"code": "1", "colour": "red"}));
    assert_eq!(unknown.json()["error"]["param"], "colour");
    assert_eq!(unknown.refused(400, "unknown_field"), "unknown field 'colour'");
    execute(&json!({"code": "1", "timeout": -1})).refused(400, "invalid_value");
    execute(&json!({"code": "1", "timeout": "soon"})).refused(400, "wrong_type");
    execute(&json!({"code": "1", "context": "a/b"})).refused(400, "invalid_value");
    let cobol = execute(&json!({"code": "1", "language": "cobol"}));
    assert!(cobol.refused(400, "unknown_language").contains("there is: python"));
    ask("POST", "/v1/execute", "content-type: text/plain\r\n", b"{}").refused(415, "unsupported_media_type");
}

#[test]
fn what_is_not_there_is_404() {
    let unknown = execute(&json!({"code": "1", "container": "cntr_unknown"}));
    assert_eq!(unknown.refused(404, "container_not_found"), "container 'cntr_unknown' does not exist");
    execute(&json!({"code": "1", "container": "../../etc"})).refused(400, "invalid_value");
    ask("GET", "/nothing", "", b"").refused(404, "unknown_url");
    ask("GET", "/v1/execute", "", b"").refused(405, "method_not_allowed");
}

#[test]
fn what_is_too_large_is_413() {
    let code = format!("# {}", "x".repeat(100_000));
    let message = execute(&json!({"code": code})).refused(413, "code_too_large");
    assert_eq!(message, "the code is 100002 bytes long; the limit is 100000");
    // Far too large to be any code: refused before it is read.
    let answer = raw(&vec![b'x'; 2 << 20]);
    answer.refused(413, "body_too_large");
    assert_eq!(execute(&json!({"code": "1"})).status, 200, "the server goes on");
}

#[test]
fn names_from_elsewhere_are_refused() {
    let mut stream = TcpStream::connect(server()).unwrap();
    stream.write_all(b"GET /health HTTP/1.0\r\nhost: evil.example\r\n\r\n").unwrap();
    answer(stream).refused(421, "foreign_host");
}

#[test]
fn many_clients_at_once_each_get_their_own() {
    let clients: Vec<_> = (0..12)
        .map(|n| std::thread::spawn(move || (n, execute(&json!({"code": format!("x = {n}\nprint(x)")})))))
        .collect();
    for client in clients {
        let (n, answer) = client.join().unwrap();
        assert_eq!(answer.json()["stdout"], format!("{n}\n"));
    }
}

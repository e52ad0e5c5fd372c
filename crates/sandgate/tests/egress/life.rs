//! The network over the life of a container: changed while it runs, asleep and awake, after a crash.

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::world::{POLICY, Server, home_with_runtimes, network, printed};

const FETCH: &str = "import urllib.request, urllib.error\n\
    try: print(urllib.request.build_opener(urllib.request.ProxyHandler({'http': 'http://127.0.0.1:3128'}))\n\
    \x20   .open('http://allowed.test/', timeout=60).read().decode())\n\
    except urllib.error.HTTPError as error: print(error.code)\n\
    except OSError as error: print('closed')";

fn in_container(server: &Server, container: &Value, network: Value) -> String {
    let body = json!({"code": FETCH, "container": container, "network": network, "timeout": 100});
    printed(&server.execute(&body))
}

#[test]
fn a_policy_changes_while_the_container_runs() {
    let server = Server::under_policy("changes");
    let first = server.execute(&json!({"code": FETCH}));
    assert_eq!(printed(&first), "closed");
    let container = &first["container"];
    assert_eq!(in_container(&server, container, json!(["allowed.test"])), "GOOD");
    assert_eq!(in_container(&server, container, Value::Null), "GOOD");
    assert_eq!(in_container(&server, container, json!(["a.wild.test"])), "403");
    assert_eq!(in_container(&server, container, json!([])), "403");
    assert_eq!(in_container(&server, container, json!(POLICY)), "GOOD");
}

#[test]
fn ports_that_a_later_policy_names_are_opened_too() {
    let server = Server::under_policy("ports");
    let first = server.run("print('there')", &["allowed.test"]);
    let code = "import socket\n\
        end = socket.create_connection(('raw.test', 7000), 60)\n\
        end.sendall(b'hello'); print(end.recv(100).decode())";
    let body = json!({"code": code, "container": first["container"], "network": POLICY, "timeout": 100});
    assert_eq!(printed(&server.execute(&body)), "hello");
}

#[test]
fn a_port_that_code_took_before_is_an_error_and_opens_nothing() {
    let server = Server::under_policy("taken");
    let code = "import socket\nend = socket.create_server(('127.0.0.1', 3128)); print('taken')";
    let first = server.execute(&json!({"code": code}));
    assert_eq!(printed(&first), "taken");
    let body = json!({"code": "1", "container": first["container"], "network": ["allowed.test"]});
    let (status, answer) = server.ask("POST", "/v1/execute", &body);
    assert_eq!(status, 400, "{answer}");
    assert!(answer.to_string().contains("port"), "{answer}");
    let code = "import socket\ntry: socket.gethostbyname('allowed.test')\nexcept OSError: print('no names')";
    let body = json!({"code": code, "container": first["container"]});
    assert_eq!(printed(&server.execute(&body)), "no names");
}

#[test]
fn a_policy_outlives_a_crash() {
    let server = Server::under_policy("crash");
    let first = server.run(FETCH, &["allowed.test"]);
    assert_eq!(printed(&first), "GOOD");
    let home = server.kill();
    let server = Server::over(home, &network(&json!({"ceiling": POLICY})));
    assert_eq!(in_container(&server, &first["container"], Value::Null), "GOOD");
}

#[test]
fn a_container_that_slept_has_its_network_again() {
    let settings = json!({"network": network(&json!({"ceiling": POLICY})), "idle_seconds": 1, "pool": 0});
    let server = Server::with(home_with_runtimes("asleep"), &settings);
    let first = server.run("kept = 1; print('there')", &["allowed.test"]);
    assert_eq!(printed(&first), "there");
    while live(&server) > 0 {
        thread::sleep(Duration::from_millis(200));
    }
    let code = format!("print('kept' in globals())\n{FETCH}");
    let body = json!({"code": code, "container": first["container"], "timeout": 100});
    assert_eq!(printed(&server.execute(&body)), "False\nGOOD", "it slept, and woke up with its network");
}

/// Sandboxes that have processes.
fn live(server: &Server) -> u64 {
    let metrics = server.metrics();
    let value = metrics.lines().find_map(|line| line.strip_prefix("sandgate_sandboxes_live "));
    value.unwrap_or_else(|| panic!("{metrics}")).parse().unwrap()
}

//! What the ledger says of the connections of a sandbox.

use std::collections::BTreeSet;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::world::{POLICY, Server, WORLD, add_runtimes, home_with_runtimes, network, printed};

/// The records of a container's connections, once there are so many.
pub(crate) fn records(server: &Server, container: &Value, count: usize) -> Vec<Value> {
    let path = format!("/v1/ledger?kind=connection&container_id={}&limit=100", container.as_str().unwrap());
    for _ in 0..600 {
        let (status, page) = server.ask("GET", &path, &Value::Null);
        assert_eq!(status, 200, "{page}");
        let found = page["data"].as_array().unwrap().clone();
        if found.len() >= count {
            return found;
        }
        // They are written when a connection is over, and by another task.
        thread::sleep(Duration::from_millis(100));
    }
    panic!("there are not {count} records of {container}");
}

pub(crate) fn ways(records: &[Value]) -> BTreeSet<String> {
    records.iter().map(|record| record["way"].as_str().unwrap().to_owned()).collect()
}

/// By every way there is, one after the other.
const EVERY_WAY: &str = "import subprocess\n\
    run = lambda *a: print(subprocess.run(['curl', '-s', *a], capture_output=True, text=True, timeout=100).stdout)\n\
    run('http://allowed.test/')\n\
    run('--proxytunnel', 'http://allowed.test/')\n\
    run('--noproxy', '*', 'http://allowed.test/')\n\
    run('--socks5-hostname', '127.0.0.1:1080', 'http://allowed.test/')\n\
    run('--noproxy', '*', 'http://forbidden.test/')\n\
    run('http://forbidden.test/')";

#[test]
fn each_connection_is_written_down_with_where_it_went() {
    let server = Server::under_policy("recorded");
    let done = server.run(EVERY_WAY, &POLICY);
    assert_eq!(printed(&done).matches("GOOD").count(), 4, "{done:#}");
    let records = records(&server, &done["container"], 6);
    assert_eq!(records.len(), 6, "{records:#?}");
    let (allowed, denied): (Vec<_>, Vec<_>) =
        records.into_iter().partition(|record| record["status"] == "allowed");
    assert_eq!(ways(&allowed), ["connect", "http", "socks", "transparent"].map(str::to_owned).into());
    for record in &allowed {
        assert_eq!(record["name"], "allowed.test", "{record}");
        assert_eq!(record["port"], 80, "{record}");
        assert_eq!(record["address"], WORLD.good.to_string(), "{record}");
        assert_eq!(record["container_id"], done["container"], "{record}");
        // A request and an answer, each with its head.
        for direction in ["sent_bytes", "received_bytes"] {
            assert!((40..2000).contains(&record[direction].as_u64().unwrap()), "{record}");
        }
    }
    assert_eq!(ways(&denied), ["dns", "http"].map(str::to_owned).into());
    for record in &denied {
        let reason = record["reason"].as_str().unwrap();
        assert!(record["status"] == "denied" && record["name"] == "forbidden.test", "{record}");
        assert!(reason.contains("no rule allows forbidden.test"), "{record}");
        assert_eq!((&record["sent_bytes"], &record["received_bytes"]), (&json!(0), &json!(0)), "{record}");
    }
}

#[test]
fn none_is_written_down_unless_the_operator_wants_it() {
    let settings = json!({"network": network(&json!({"ceiling": POLICY})), "pool": 0});
    let server = Server::with(home_with_runtimes("unrecorded"), &settings);
    let done = server.run(EVERY_WAY, &POLICY);
    assert_eq!(printed(&done).matches("GOOD").count(), 4, "{done:#}");
    let count = r#"sandgate_connections_total{way="transparent",verdict="allowed"} 1"#;
    while !server.metrics().contains(count) {
        thread::sleep(Duration::from_millis(100));
    }
    let (status, page) = server.ask("GET", "/v1/ledger?limit=100", &Value::Null);
    assert_eq!(status, 200, "{page}");
    assert!(page.to_string().contains("execution"), "the ledger is there: {page}");
    assert!(!page.to_string().contains("connection"), "{page}");
}

/// Programs that know of the proxy go by it, and those that do not are carried all the same.
#[test]
fn node_and_go_take_the_way_that_they_are_told() {
    let server = Server::under_policy("told-ways");
    add_runtimes(&server, &["node", "go"]);
    let told_go = "import (\"fmt\"; \"io\"; \"net/http\")\n\
        answer, err := http.Get(\"http://allowed.test/\")\n\
        if err != nil { panic(err) }\n\
        body, _ := io.ReadAll(answer.Body)\n\
        fmt.Println(string(body))";
    let untold_go = told_go.replace(
        "answer, err := http.Get(",
        "plain := &http.Client{Transport: &http.Transport{}}\nanswer, err := plain.Get(",
    );
    let node =
        "node -e \"fetch('http://allowed.test/').then((a) => a.text()).then(console.log, console.log)\"";
    let told_node = format!("NODE_USE_ENV_PROXY=1 {node}");
    for (language, code, way) in [
        ("go", told_go, "http"),
        ("go", &untold_go, "transparent"),
        ("bash", &told_node, "http connect"),
        ("bash", node, "transparent"),
    ] {
        let body = json!({"code": code, "language": language, "network": POLICY, "timeout": 120});
        let done = server.execute(&body);
        assert_eq!(printed(&done), "GOOD", "{language} {way}");
        for taken in ways(&records(&server, &done["container"], 1)) {
            assert!(way.split(' ').any(|right| right == taken), "{language} took {taken} and not {way}");
        }
    }
}

//! `sandgate key` beside a running server, and what keys ask of a server before it starts.

use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};

use crate::common::{Client, World, finish, sandgate, wait_until, world};

fn key(home: &Path, arguments: &[&str]) -> Output {
    let mut command = sandgate(home);
    command.arg("key").args(arguments);
    finish(command.spawn().expect("the program starts"))
}

#[track_caller]
fn shown(home: &Path, arguments: &[&str]) -> Value {
    let output = key(home, arguments);
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("no JSON: {output:?}"))
}

#[test]
fn a_running_server_sees_keys_come_and_go() {
    let world = World::with("loopback", "");
    let home = world.home();
    let open = world.client([]);
    open.get("/v1/containers").ok();
    let arguments = ["create", "ci", "--containers", "1", "--models", "loop*", "--expires", "1h", "--json"];
    let made = shown(home, &arguments);
    assert_eq!(made["limits"], json!({"models": ["loop*"], "containers": 1}));
    let (id, secret) = (made["id"].as_str().unwrap(), made["key"].as_str().unwrap());
    // From now on a key is needed, by everybody; the server sees it within a second.
    wait_until("the server asks for keys", || open.get("/v1/containers").status == 401);
    let client = Client { key: secret.to_owned(), ..open };
    client.get("/v1/containers").ok();
    client.get("/v1/admin/keys").refused(403);
    client.post("/v1/containers", &json!({"name": "a"})).ok();
    client.post("/v1/containers", &json!({"name": "b"})).refused(429);
    let limited = shown(home, &["limit", id, "--containers", "2"]);
    assert_eq!(limited["limits"]["models"], json!(["loop*"]));
    client.post("/v1/containers", &json!({"name": "b"})).ok();

    let listed = shown(home, &["list", "--json"]);
    assert_eq!(listed[0]["id"], id);
    let table = key(home, &["list"]);
    let table = String::from_utf8(table.stdout).unwrap();
    assert!(table.contains(id) && table.contains("valid") && !table.contains(secret), "{table}");
    let one = key(home, &["show", id]);
    assert!(!String::from_utf8_lossy(&one.stdout).contains(secret));
    assert!(key(home, &["revoke", id]).status.success());
    client.get("/v1/containers").refused(401);
    // The last one is gone, and the door stays closed.
    open.get("/v1/containers").refused(401);
    assert!(!world.log().contains(secret));
}

#[test]
fn mistakes_are_named() {
    let home = tempfile::tempdir().unwrap();
    for (arguments, words) in [
        (&["create", ""][..], "1 to 200"),
        (&["create", "a", "--owner", "master"], "'master'"),
        (&["create", "a", "--requests-per-minute", "0"], "at least 1"),
        (&["create", "a", "--memory", "1k"], "64m"),
        (&["create", "a", "--expires", "soon"], "30d"),
        (&["show", "key_none"], "there is no key 'key_none'"),
        (&["revoke", "key_none"], "there is no key 'key_none'"),
        (&["limit", "key_none"], "there is no key 'key_none'"),
    ] {
        let output = key(home.path(), arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(words), "{arguments:?}: {said}");
    }
    let none = key(home.path(), &["list"]);
    assert!(String::from_utf8_lossy(&none.stdout).contains("there are no keys"));
}

/// Why a server does not start.
fn refused(config: &str, listen: &str) -> String {
    refused_with(config, listen, None)
}

fn refused_with(config: &str, listen: &str, master: Option<&str>) -> String {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("config.yaml");
    std::fs::write(&file, config).unwrap();
    let mut command = sandgate(home.path());
    command.args(["serve", "--listen", listen, "--config"]).arg(&file);
    if let Some(master) = master {
        command.env("SANDGATE_MASTER_KEY", master);
    }
    let output = finish(command.spawn().expect("the program starts"));
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_server_that_would_be_unsafe_does_not_start() {
    let said =
        refused("master_key: 0123456789abcdef\nupstream: {url: 'http://127.0.0.1:9/v1'}\n", "127.0.0.1:0");
    assert!(said.contains("not passed on") && said.contains("'key'"), "{said}");
    assert!(!said.contains("0123456789abcdef"));
    let said = refused("", "0.0.0.0:0");
    assert!(said.contains("refusing to listen on 0.0.0.0:0"), "{said}");
    let said = refused("master_key: sk-1234\n", "0.0.0.0:0");
    assert!(said.contains("shorter than 16"), "{said}");
    assert!(!said.contains("sk-1234"));
    let said = refused_with("", "127.0.0.1:0", Some(" "));
    assert!(said.contains("SANDGATE_MASTER_KEY: the secret is empty"), "{said}");
    let said = refused_with("", "0.0.0.0:0", Some("sk-from-env"));
    assert!(said.contains("shorter than 16"), "{said}");
}

#[test]
fn without_a_master_key_nobody_makes_keys_over_the_network() {
    let error = world().client([]).post("/v1/admin/keys", &json!({"name": "a"})).refused(403);
    assert!(error["message"].as_str().unwrap().contains("no master key"), "{error}");
}

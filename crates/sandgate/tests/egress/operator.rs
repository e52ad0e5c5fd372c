//! What the operator says, in sandboxes: what is usual, what nobody has, how much of it, and less of it later.

use serde_json::json;

use crate::world::{Server, network, printed};

/// `fetch(url)`: what is there, or the refusal with its status.
const FETCH: &str = "import urllib.request, urllib.error\n\
    def fetch(url, data=None):\n\
    \x20   proxy = urllib.request.ProxyHandler({'http': 'http://127.0.0.1:3128'})\n\
    \x20   try: return urllib.request.build_opener(proxy).open(url, data, timeout=60).read().decode()\n\
    \x20   except urllib.error.HTTPError as error: return f'{error.code} {error.read().decode()}'\n\
    \x20   except OSError as error: return 'closed'\n";

#[test]
fn a_container_whose_maker_asks_for_nothing_has_what_is_usual() {
    let server = Server::start("usual", &network(&json!({"default": ["allowed.test"]})));
    let code = format!("{FETCH}print(fetch('http://allowed.test/'), fetch('http://a.wild.test/')[:3])");
    assert_eq!(printed(&server.execute(&json!({"code": code}))), "GOOD 403");
    assert_eq!(printed(&server.run(&code, &[])), "closed clo", "unless nothing is asked for");
}

#[test]
fn what_the_operator_denies_is_reached_by_nobody_on_no_port() {
    let denied = json!({"ceiling": ["*.wild.test:*"], "deny": ["a.wild.test"]});
    let server = Server::start("denied", &network(&denied));
    let code = format!(
        "{FETCH}print(fetch('http://data.wild.test/'))\n\
         for url in ['http://a.wild.test/', 'http://a.wild.test:8080/']: print(fetch(url))"
    );
    let said = printed(&server.run(&code, &["*.wild.test:*"]));
    let lines: Vec<&str> = said.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!((lines.len(), lines[0]), (3, "GOOD"), "{said}");
    for line in &lines[1..] {
        assert!(line.starts_with("403 ") && line.contains("Only the operator"), "{said}");
    }
}

#[test]
fn the_limits_of_a_sandbox_are_those_of_the_operator() {
    let limits = json!({"ceiling": ["allowed.test"], "limits": {"bytes": 200_000, "connections": 3}});
    let server = Server::start("limited", &network(&limits));
    let code = format!(
        "{FETCH}import socket\n\
         held = [socket.create_connection(('allowed.test', 80), 60) for _ in range(3)]\n\
         many = fetch('http://allowed.test/')\n\
         while many == 'GOOD': many = fetch('http://allowed.test/')\n\
         print(many)\n\
         for end in held: end.close()\n\
         some = [fetch('http://allowed.test/', b'x' * 10_000) for _ in range(40)]\n\
         print('GOOD' in some, some[-1])"
    );
    let said = printed(&server.run(&code, &["allowed.test"]));
    let lines: Vec<&str> = said.lines().filter(|line| !line.is_empty()).collect();
    assert!(lines[0].starts_with("429 ") && lines[0].contains("3 connections are open"), "{said}");
    assert!(lines[1].starts_with("True 429 ") && lines[1].contains("used up its 195.3 KiB"), "{said}");
}

#[test]
fn a_ceiling_that_came_down_counts_for_containers_that_were_made_before() {
    let server = Server::start("lowered", &network(&json!({"ceiling": ["allowed.test", "a.wild.test"]})));
    let code = format!("{FETCH}print(fetch('http://allowed.test/'), fetch('http://a.wild.test/'))");
    let first = server.run(&code, &["allowed.test", "a.wild.test"]);
    assert_eq!(printed(&first), "GOOD GOOD");
    let server = Server::over(server.kill(), &network(&json!({"ceiling": ["a.wild.test"]})));
    let again = server.execute(&json!({"code": code, "container": first["container"], "timeout": 100}));
    let said = printed(&again);
    assert!(said.starts_with("403 ") && said.contains("Only the operator"), "{said}");
    assert!(said.ends_with("GOOD"), "{said}");
}

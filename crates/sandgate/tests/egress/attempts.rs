//! The attempts: under the policy, under an open one with what nobody reaches, and in the control run.

use serde_json::{Value, json};

use crate::attempt::{Attempt, Control, NEIGHBOUR_PORT, all, run, stopped_by};
use crate::reality;
use crate::world::{POLICY, Server, WORLD, network, printed};

/// Another sandbox with something that listens.
struct Neighbour<'a> {
    server: &'a Server,
    container: Value,
}

impl<'a> Neighbour<'a> {
    fn of(server: &'a Server, network: &[&str]) -> Self {
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
        let answer = server.run(&code, network);
        assert_eq!(printed(&answer), "listens");
        Self { server, container: answer["container"].clone() }
    }

    /// It was there to be found all the time.
    fn assert_still_there(&self) {
        let code = format!(
            "import urllib.request\n\
             direct = urllib.request.build_opener(urllib.request.ProxyHandler({{}}))\n\
             print(direct.open('http://127.0.0.1:{NEIGHBOUR_PORT}/', timeout=60).read().decode())"
        );
        let answer = self.server.execute(&json!({"code": code, "container": self.container, "timeout": 100}));
        assert_eq!(printed(&answer), WORLD.secret);
    }
}

#[test]
fn every_attempt_is_stopped_for_its_own_reason() {
    reality::assert_the_world_answers();
    let server = Server::under_policy("attempts");
    let neighbour = Neighbour::of(&server, &POLICY);
    let wrong = run(&server, &POLICY, &all(), |attempt, said| {
        stopped_by(said).is_some_and(|why| attempt.blocked.iter().any(|right| right == why))
    });
    assert!(wrong.is_empty(), "\n{wrong}");
    neighbour.assert_still_there();
    // What was refused was counted and written down, and nothing of it is the secret.
    for way in ["connect", "http", "socks", "transparent", "dns"] {
        assert!(denied(&server, way) > 0, "{}", server.metrics());
    }
    let (status, records) =
        server.ask("GET", "/v1/ledger?kind=connection&status=denied&limit=100", &Value::Null);
    assert_eq!(status, 200, "{records}");
    let text = records.to_string();
    assert!(text.contains("forbidden.test") && text.contains("no rule allows"), "{text}");
    assert!(!text.contains(&WORLD.secret), "the secret is in the ledger");
}

/// How many connections of this way were refused.
fn denied(server: &Server, way: &str) -> u64 {
    let family = format!("sandgate_connections_total{{way=\"{way}\",verdict=\"denied\"}} ");
    let metrics = server.metrics();
    let value = metrics.lines().find_map(|line| line.strip_prefix(&family));
    value.unwrap_or_else(|| panic!("no {family}\n{metrics}")).parse().unwrap()
}

/// What nobody reaches stays closed where a policy allows everything else.
#[test]
fn an_open_policy_opens_nothing_of_the_host() {
    let server = Server::start("open", &network(&json!({"ceiling": ["open"]})));
    let attempts: Vec<_> = all().into_iter().filter(is_about_the_host).collect();
    assert!(attempts.len() >= 33, "only {}", attempts.len());
    let wrong = run(&server, &["open"], &attempts, |_, said| {
        let reasons = ["denied-address", "not-a-host", "itself", "socks-2", "ECONNREFUSED"];
        stopped_by(said).is_some_and(|why| reasons.contains(&why))
    });
    assert!(wrong.is_empty(), "\n{wrong}");
}

fn is_about_the_host(attempt: &Attempt) -> bool {
    let places = ["HOST_PORT", "SERVER_PORT", "{{OWN}}", ".lies.test", "redirect-inside", "rebound("];
    places.iter().any(|place| attempt.text.contains(place)) && !attempt.text.contains("web.lies.test")
}

/// With everything open, the attempts that a policy is to stop get through: they are real. The others are stopped by
/// something else, and say so rightly.
#[test]
fn the_attempts_do_what_they_say_where_nothing_is_closed() {
    let names = WORLD.names;
    let everything = json!({"ceiling": ["open"], "allow_private": ["0.0.0.0/0", "::/0"], "dns": [names]});
    let server = Server::start("control", &everything);
    let neighbour = Neighbour::of(&server, &["open"]);
    let attempts: Vec<_> = all().into_iter().filter(|attempt| attempt.control != Control::NotRun).collect();
    let wrong = run(&server, &["open"], &attempts, |attempt, said| match attempt.control {
        Control::Escapes => said.starts_with("ESCAPED "),
        Control::Blocked | Control::NotRun => stopped_by(said).is_some(),
    });
    assert!(wrong.is_empty(), "\n{wrong}");
    neighbour.assert_still_there();
}

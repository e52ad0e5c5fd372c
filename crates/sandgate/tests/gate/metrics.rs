//! What Prometheus is told, by whom it may be asked, and that the dashboard asks for nothing else.

use std::collections::BTreeSet;
use std::path::Path;

use sandgate_testkit::{Turn, Usage};
use serde_json::{Value, json};

use crate::common::{Client, Keyed, MASTER, World, wait_until};

#[track_caller]
fn text(client: &Client) -> String {
    let answer = client.get("/metrics");
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert!(
        answer.head.contains("content-type: application/openmetrics-text; version=1.0.0"),
        "{}",
        answer.head
    );
    let text = answer.text();
    assert!(text.ends_with("# EOF\n"), "{text}");
    text
}

/// The value of a series, its labels in any order.
fn value(text: &str, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
    text.lines().find_map(|line| {
        let (series, value) = line.rsplit_once(' ')?;
        let (found, rest) = series.split_once('{').unwrap_or((series, ""));
        let has = |(label, value): &(&str, &str)| rest.contains(&format!("{label}=\"{value}\""));
        (found == name && labels.iter().all(has)).then(|| value.parse().ok()).flatten()
    })
}

#[test]
fn requests_turns_tokens_and_executions_are_counted() {
    let world = World::with("responses", "gate: {execution_seconds: 1}");
    let usage = Usage { input_tokens: 10, output_tokens: 5, ..Usage::default() };
    let told = |mut turn: Turn| {
        turn.usage = Some(usage);
        turn
    };
    let client = world.client([
        told(Turn::code("print(1)")),
        told(Turn::text("one")),
        told(Turn::code("while True: pass")),
        told(Turn::code("raise ValueError")),
        told(Turn::text("two")),
    ]);
    client.respond(json!({}));
    client.stream(json!({}));
    let own = world.client([Turn::text("passed on")]);
    own.post("/v1/responses", &json!({"model": "gpt-test", "input": "x"})).ok();
    own.get("/v1/responses/resp_none");
    own.post("/v1/execute", &json!({"code": "1"})).ok();
    let mut seen = String::new();
    // An answer is counted when its last byte is out, which its client may see a moment earlier.
    wait_until("all are counted", || {
        seen = text(&own);
        let labels = [("api", "execute"), ("status", "2xx"), ("stream", "false")];
        value(&seen, "sandgate_requests_total", &labels) == Some(1.0)
    });
    let counted = |name: &str, labels: &[(&str, &str)]| value(&seen, name, labels);
    let responses = |status, stream| {
        let labels = [("api", "responses"), ("status", status), ("stream", stream)];
        counted("sandgate_requests_total", &labels)
    };
    assert_eq!(responses("2xx", "false"), Some(2.0), "{seen}");
    assert_eq!(responses("2xx", "true"), Some(1.0));
    assert_eq!(responses("4xx", "false"), Some(1.0));
    for name in ["sandgate_request_duration_seconds_count", "sandgate_request_overhead_seconds_count"] {
        assert_eq!(counted(name, &[("api", "responses"), ("stream", "true")]), Some(1.0), "{name}");
    }
    let sum = |name: &str| counted(name, &[("api", "responses"), ("stream", "true")]).unwrap();
    let (took, ours) =
        (sum("sandgate_request_duration_seconds_sum"), sum("sandgate_request_overhead_seconds_sum"));
    // A second of it was the code's, which ran into its limit.
    assert!(ours > 0.0 && took - ours >= 1.0, "{took} {ours}");
    let model = ("model", "gpt-test");
    assert_eq!(counted("sandgate_model_turns_total", &[model, ("outcome", "ok")]), Some(5.0));
    assert_eq!(counted("sandgate_tokens_total", &[model, ("kind", "input")]), Some(50.0));
    assert_eq!(counted("sandgate_tokens_total", &[model, ("kind", "output")]), Some(25.0));
    let ended = |ending| counted("sandgate_executions_total", &[("door", "responses"), ("ending", ending)]);
    assert_eq!((ended("ok"), ended("timed_out"), ended("raised")), (Some(1.0), Some(1.0), Some(1.0)));
    assert_eq!(counted("sandgate_limits_hit_total", &[("limit", "time")]), Some(1.0));
    assert_eq!(counted("sandgate_sandboxes_healthy", &[]), Some(1.0));
    assert_eq!(counted("sandgate_sandboxes_live", &[]), Some(3.0));
    assert_eq!(counted("sandgate_containers", &[]), Some(3.0));
    assert_eq!(counted("sandgate_sandbox_start_seconds_count", &[("how", "create")]), Some(3.0));
    let claims =
        ["warm", "cold", "miss"].map(|kind| counted("sandgate_pool_claims_total", &[("kind", kind)]));
    assert!(claims.iter().flatten().sum::<f64>() >= 3.0, "{claims:?}");
    for secret in [client.key.as_str(), "print", "ValueError"] {
        assert!(!seen.contains(secret), "{secret}");
    }
}

#[test]
fn a_name_that_a_client_made_up_is_no_label() {
    let world = World::with("responses", "");
    let client = world.client([]);
    for number in 0..3 {
        // The model has no script for it, so it refuses.
        client.create(json!({"model": format!("made-up-{number}")}));
    }
    let seen = text(&client);
    assert!(!seen.contains("made-up"), "{seen}");
    assert!(
        value(&seen, "sandgate_model_turns_total", &[("model", "other"), ("outcome", "failed")]).is_some()
    );
}

#[test]
fn with_keys_it_takes_the_master_key() {
    let world = Keyed::start("responses");
    let (_, client) = world.make(json!({}));
    assert!(text(&world.master()).contains("sandgate_build_info{version="));
    assert_eq!(client.get("/metrics").refused(403)["code"], "insufficient_permissions");
    world.with_key("").get("/metrics").refused(401);
    assert!(!text(&world.master()).contains(MASTER));
}

#[test]
fn the_operator_may_open_it() {
    let world = World::configured(|url| {
        format!(
            "pool: 1\nmaster_key: {MASTER}\nupstream: {{url: '{url}', key: k}}\ntelemetry: {{metrics_open: true}}\n"
        )
    });
    let nobody = Client { key: String::new(), ..world.client([]) };
    assert!(text(&nobody).contains("sandgate_sandboxes_healthy 1"));
    nobody.get("/v1/containers").refused(401);
}

fn dashboard() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/grafana/sandgate.json");
    serde_json::from_str(&std::fs::read_to_string(path).expect("the dashboard")).expect("JSON")
}

fn expressions(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value.as_str() {
                    Some(text) if name == "expr" || name == "query" || name == "definition" => {
                        found.push(text.to_owned());
                    }
                    _ => expressions(value, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| expressions(item, found)),
        _ => {}
    }
}

#[test]
fn the_dashboard_names_only_what_is_exported_and_leaves_nothing_out() {
    let world = World::with("responses", "gate: {execution_seconds: 1}");
    let client = world.client([Turn::code("while True: pass"), Turn::text("x")]);
    client.respond(json!({}));
    let mut seen = String::new();
    wait_until("the request is counted", || {
        seen = text(&client);
        let labels = [("api", "responses"), ("status", "2xx"), ("stream", "false")];
        value(&seen, "sandgate_requests_total", &labels) == Some(1.0)
    });
    let kinds: Vec<(&str, &str)> =
        seen.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' ')).collect();
    let mut exported = BTreeSet::new();
    for (name, kind) in &kinds {
        match *kind {
            "counter" => drop(exported.insert(format!("{name}_total"))),
            "histogram" => exported.extend(["bucket", "sum", "count"].map(|end| format!("{name}_{end}"))),
            _ => drop(exported.insert((*name).to_owned())),
        }
    }
    let mut asked = Vec::new();
    expressions(&dashboard(), &mut asked);
    assert!(asked.len() > 15, "{asked:?}");
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut used = BTreeSet::new();
    for expression in &asked {
        for word in expression.split(|c| !is_name(c)).filter(|word| word.starts_with("sandgate_")) {
            assert!(exported.contains(word), "{word} of '{expression}' is not exported");
            used.insert(word.to_owned());
        }
    }
    for (name, _) in kinds {
        assert!(used.iter().any(|word| word.starts_with(name)), "{name} is on no panel");
    }
}

//! Traces as a collector gets them, and the lines of the log.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::thread;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, any_value};
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use sandgate_testkit::{Turn, Usage};
use serde_json::{Value, json};

use crate::common::{Client, World, wait_until};

/// Takes what is exported.
struct Collector {
    address: SocketAddr,
    taken: Arc<Mutex<Vec<ExportTraceServiceRequest>>>,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Collector {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (taken, heads) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(Vec::new())));
        let (all, all_heads) = (Arc::clone(&taken), Arc::clone(&heads));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut reader = BufReader::new(stream.unwrap());
                // One connection is kept for all.
                loop {
                    let mut head = String::new();
                    while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).unwrap_or(0) > 0 {}
                    let head = head.to_ascii_lowercase();
                    let Some(length) = head.split("content-length: ").nth(1) else { break };
                    let mut body = vec![0; length.split("\r\n").next().unwrap().parse().unwrap()];
                    reader.read_exact(&mut body).unwrap();
                    all_heads.lock().unwrap().push(head);
                    all.lock().unwrap().push(ExportTraceServiceRequest::decode(&body[..]).expect("protobuf"));
                    reader.get_mut().write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").unwrap();
                }
            }
        });
        Self { address, taken, heads }
    }

    fn spans(&self) -> Vec<Span> {
        let taken = self.taken.lock().unwrap();
        let resources = taken.iter().flat_map(|request| &request.resource_spans);
        resources.flat_map(|resource| &resource.scope_spans).flat_map(|scope| scope.spans.clone()).collect()
    }

    fn resource(&self) -> BTreeMap<String, Value> {
        let taken = self.taken.lock().unwrap();
        let resource = taken[0].resource_spans[0].resource.as_ref().unwrap();
        attributes(resource.attributes.iter().map(|pair| (pair.key.clone(), pair.value.clone())))
    }
}

fn attributes(pairs: impl Iterator<Item = (String, Option<AnyValue>)>) -> BTreeMap<String, Value> {
    fn plain(value: AnyValue) -> Value {
        match value.value {
            Some(any_value::Value::StringValue(text)) => json!(text),
            Some(any_value::Value::IntValue(number)) => json!(number),
            Some(any_value::Value::DoubleValue(number)) => json!(number),
            Some(any_value::Value::BoolValue(flag)) => json!(flag),
            Some(any_value::Value::ArrayValue(list)) => list.values.into_iter().map(plain).collect(),
            other => panic!("{other:?}"),
        }
    }
    pairs.map(|(key, value)| (key, plain(value.unwrap()))).collect()
}

fn of(span: &Span) -> BTreeMap<String, Value> {
    attributes(span.attributes.iter().map(|pair| (pair.key.clone(), pair.value.clone())))
}

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: &str = "b7ad6b7169203331";

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A request as part of the client's own trace.
fn traced(client: &Client, path: &str, body: &Value) -> String {
    // The head of a request is the test client's own; one more line goes in by the content type.
    let kind = format!("application/json\r\ntraceparent: 00-{TRACE}-{PARENT}-01");
    let answer = client.typed("POST", path, &kind, body.to_string().as_bytes());
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.head
}

#[test]
fn a_trace_has_the_request_its_turns_and_its_executions() {
    let collector = Collector::start();
    let more = format!(
        "telemetry: {{otlp_endpoint: 'http://{}', otlp_headers: {{x-tenant: secret-of-the-tenant}}}}",
        collector.address
    );
    let world = World::with("responses", &more);
    let mut first = Turn::code("secret_code = 1");
    first.usage = Some(Usage { input_tokens: 10, output_tokens: 5, ..Usage::default() });
    let client = world.client([first, Turn::text("a secret answer")]);
    let request =
        json!({"model": "gpt-test", "input": "a secret question", "tools": crate::common::code_tool()});
    let head = traced(&client, "/v1/responses", &request);
    wait_until("all spans are there", || collector.spans().len() >= 4);

    let spans = collector.spans();
    assert!(spans.iter().all(|span| hex(&span.trace_id) == TRACE), "the client's trace is gone on with");
    let named = |name: &str| spans.iter().filter(|span| span.name == name).collect::<Vec<_>>();
    let [root] = named("responses gpt-test")[..] else { panic!("{spans:?}") };
    assert_eq!((hex(&root.parent_span_id).as_str(), root.kind), (PARENT, 2));
    let told = of(root);
    assert_eq!(
        (&told["http.response.status_code"], &told["gen_ai.request.model"]),
        (&json!(200), &json!("gpt-test"))
    );
    assert!(head.contains(told["sandgate.request.id"].as_str().unwrap()), "{head}");
    assert!(told["sandgate.overhead_seconds"].as_f64().unwrap() > 0.0);
    let turns = named("chat gpt-test");
    assert_eq!(turns.len(), 2);
    for turn in &turns {
        assert_eq!((&turn.parent_span_id, turn.kind), (&root.span_id, 3));
    }
    let told = of(turns.iter().min_by_key(|turn| turn.start_time_unix_nano).unwrap());
    assert_eq!(told["gen_ai.operation.name"], "chat");
    assert_eq!(told["gen_ai.request.model"], "gpt-test");
    assert_eq!(
        (&told["gen_ai.usage.input_tokens"], &told["gen_ai.usage.output_tokens"]),
        (&json!(10), &json!(5))
    );
    assert_eq!(told["gen_ai.response.finish_reasons"], json!(["completed"]));
    let [execution] = named("execute_tool code_interpreter")[..] else { panic!("{spans:?}") };
    assert_eq!((&execution.parent_span_id, execution.kind), (&root.span_id, 1));
    let told = of(execution);
    assert_eq!(
        (&told["gen_ai.operation.name"], &told["gen_ai.tool.name"]),
        (&json!("execute_tool"), &json!("code_interpreter"))
    );
    assert_eq!(told["sandgate.execution.ending"], "ok");
    assert_eq!(collector.resource()["service.name"], "sandgate");

    // The upstream's part hangs below the turn.
    let asked = world.asked(&client);
    let parents: Vec<&str> = asked.iter().map(|request| request.headers["traceparent"].as_str()).collect();
    for turn in &turns {
        let parent = format!("00-{TRACE}-{}-01", hex(&turn.span_id));
        assert!(parents.contains(&parent.as_str()), "{parents:?}");
    }
    for secret in ["secret_code", "secret question", "secret answer", &client.key] {
        assert!(!format!("{spans:?}").contains(secret), "{secret}");
    }
    let heads = collector.heads.lock().unwrap();
    assert!(heads[0].starts_with("post /v1/traces "), "{heads:?}");
    assert!(
        heads[0].contains("x-tenant: secret-of-the-tenant") && heads[0].contains("application/x-protobuf")
    );
    assert!(!world.log().contains("secret-of-the-tenant"));
}

#[test]
fn a_request_that_is_passed_on_belongs_to_the_trace_too() {
    let collector = Collector::start();
    let world =
        World::with("responses", &format!("telemetry: {{otlp_endpoint: 'http://{}'}}", collector.address));
    let client = world.client([Turn::text("passed on")]);
    traced(&client, "/v1/responses", &json!({"model": "gpt-test", "input": "x"}));
    wait_until("its span is there", || !collector.spans().is_empty());
    let span = collector.spans().remove(0);
    let passed = &world.asked(&client)[0].headers["traceparent"];
    assert_eq!(*passed, format!("00-{TRACE}-{}-01", hex(&span.span_id)));
}

#[test]
fn without_a_collector_the_clients_trace_goes_through_untouched() {
    let world = World::with("responses", "");
    let client = world.client([Turn::code("1"), Turn::text("x"), Turn::text("passed on")]);
    let body = json!({"model": "m", "input": "x", "tools": crate::common::code_tool()});
    traced(&client, "/v1/responses", &body);
    traced(&client, "/v1/responses", &json!({"model": "m", "input": "x"}));
    let asked = world.asked(&client);
    assert_eq!(asked.len(), 3);
    for request in asked {
        assert_eq!(request.headers["traceparent"], format!("00-{TRACE}-{PARENT}-01"));
    }
}

#[test]
fn a_collector_that_cannot_be_reached_harms_nobody() {
    // Bound and never read: connections are made and nothing answers.
    let deaf = TcpListener::bind("127.0.0.1:0").unwrap();
    let nobody = {
        let gone = TcpListener::bind("127.0.0.1:0").unwrap();
        gone.local_addr().unwrap()
    };
    for address in [deaf.local_addr().unwrap(), nobody] {
        let mut world =
            World::with("responses", &format!("telemetry: {{otlp_endpoint: 'http://{address}'}}"));
        let client = world.client([Turn::code("print(1)"), Turn::text("one")]);
        client.respond(json!({}));
        if address == nobody {
            wait_until("it is said", || world.log().contains("traces cannot be sent"));
        }
        world.signal(rustix::process::Signal::TERM);
        assert!(world.ended().success());
    }
}

#[test]
fn every_request_has_its_line_in_the_log() {
    let world = World::with("responses", "log_format: json");
    let client = world.client([Turn::code("secret_code = 1"), Turn::text("x")]);
    let answer = client.create(json!({"model": "gpt-test", "input": "secret question"}));
    let id = answer.head.split("x-request-id: ").nth(1).unwrap().split("\r\n").next().unwrap().to_owned();
    let lines = || {
        let log = world.log();
        let lines =
            log.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("not JSON: {line}")));
        lines.collect::<Vec<Value>>()
    };
    wait_until("its line is there", || lines().iter().any(|line| line["message"] == "request"));
    let line = lines().into_iter().find(|line| line["message"] == "request").unwrap();
    assert_eq!((&line["level"], &line["id"]), (&json!("INFO"), &json!(id)));
    assert_eq!(
        (&line["api"], &line["model"], &line["status"]),
        (&json!("responses"), &json!("gpt-test"), &json!(200))
    );
    assert!(line["ms"].as_f64().unwrap() >= line["overhead_ms"].as_f64().unwrap());
    for secret in ["secret_code", "secret question", &client.key] {
        assert!(!world.log().contains(secret), "{secret}");
    }
}

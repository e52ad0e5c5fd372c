//! What is counted, under which labels, and what never becomes one.

use std::thread::sleep;

use futures_util::{StreamExt, stream};
use http::HeaderMap;
use sandgate_core::{Ending, Event, Note};
use serde_json::{Map, json};

use super::*;
use crate::upstream::{Credentials, Turn, TurnRequest, UpstreamError};

const HERE: Whereabouts<'_> = Whereabouts { id: "cntr_1", backend: "embedded" };

fn value(metrics: &Metrics, name: &str) -> Option<f64> {
    let text = metrics.text(&Now::default());
    text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
}

fn question(model: &str) -> TurnRequest {
    let body = Map::from_iter([("model".to_owned(), json!(model))]);
    let credentials = Credentials::default();
    TurnRequest {
        body,
        credentials,
        stream: true,
        request_id: String::new(),
        retries: 0,
        asked: crate::upstream::Asked::default(),
    }
}

async fn turn(watch: &Watch, model: &str, events: Vec<serde_json::Value>) {
    let ask = async |_| {
        let events = stream::iter(events).map(Ok).boxed();
        Ok::<_, UpstreamError>(Turn { events, headers: HeaderMap::new() })
    };
    let mut turn = watch.turn(Some(model)).over(question(model), ask).await.unwrap();
    while turn.events.next().await.is_some() {}
}

#[test]
fn waits_that_overlap_are_subtracted_once() {
    let metrics = Metrics::default();
    let watch = Watch::begin(&metrics, "responses", &HeaderMap::new());
    let model = watch.outside(Place::Model);
    let client = watch.outside(Place::Client);
    sleep(Duration::from_millis(60));
    drop((model, client));
    let ended = watch.end("req_1", 200, true).unwrap();
    assert!(ended.took >= Duration::from_millis(60));
    assert!(ended.overhead + Duration::from_millis(55) < ended.took, "{ended:?}");
    let labels = r#"{api="responses",stream="true"}"#;
    assert_eq!(value(&metrics, &format!("sandgate_request_overhead_seconds_count{labels}")), Some(1.0));
    let labels = r#"{api="responses",status="2xx",stream="true"}"#;
    assert_eq!(value(&metrics, &format!("sandgate_requests_total{labels}")), Some(1.0));
    assert_eq!(value(&metrics, "sandgate_requests_under_way"), Some(0.0));
}

#[tokio::test]
async fn tokens_of_both_apis_are_counted_by_model() {
    let metrics = Metrics::default();
    let watch = Watch::begin(&metrics, "chat", &HeaderMap::new());
    let usage = json!({"input_tokens": 7, "output_tokens": 3, "input_tokens_details": {"cached_tokens": 2}});
    let done = json!({"type": "response.completed", "response": {"status": "completed", "usage": usage}});
    turn(&watch, "gpt", vec![json!({"type": "response.created"}), done]).await;
    let usage = json!({"prompt_tokens": 5, "completion_tokens": 1});
    let last = json!({"choices": [{"delta": {}, "finish_reason": "stop"}], "usage": usage});
    turn(&watch, "gpt", vec![last]).await;
    let tokens =
        |kind: &str| value(&metrics, &format!(r#"sandgate_tokens_total{{model="gpt",kind="{kind}"}}"#));
    assert_eq!(
        (tokens("input"), tokens("output"), tokens("input_cached")),
        (Some(12.0), Some(4.0), Some(2.0))
    );
    assert_eq!(value(&metrics, r#"sandgate_model_turns_total{model="gpt",outcome="ok"}"#), Some(2.0));
}

#[tokio::test]
async fn names_that_no_upstream_answers_to_share_one_label() {
    let metrics = Metrics::default();
    metrics.know_models(["configured"]);
    let watch = Watch::begin(&metrics, "chat", &HeaderMap::new());
    for number in 0..500 {
        let refuse = async |_| Err(UpstreamError::Unreachable("no".to_owned()));
        let name = format!("made-up-{number}");
        watch.turn(Some(&name)).over(question(&name), refuse).await.unwrap_err();
    }
    let done = || json!({"type": "response.completed", "response": {}});
    for number in 0..500 {
        turn(&watch, &format!("answered-{number}"), vec![done()]).await;
    }
    turn(&watch, "configured", vec![done()]).await;
    let text = metrics.text(&Now::default());
    assert!(!text.contains("made-up"), "a client's word became a label");
    assert!(text.contains(r#"sandgate_model_turns_total{model="other",outcome="failed"} 500"#), "{text}");
    assert!(text.contains(r#"model="configured",outcome="ok""#));
    assert!(text.lines().filter(|line| line.starts_with("sandgate_model_turns_total")).count() < 110);
}

#[test]
fn executions_count_by_how_they_ended_and_limits_by_kind() {
    let metrics = Metrics::default();
    let watch = Watch::begin(&metrics, "execute", &HeaderMap::new());
    let done = |ending| Event::Done { ending, text: String::new(), execution_count: 1, duration_ms: 1.0 };
    let mut timed_out = watch.execution("execute", &HERE);
    timed_out.event(&Event::Note { note: Note::OutputTrimmed, text: String::new() });
    timed_out.event(&done(Ending::TimedOut));
    drop(watch.execution("execute", &HERE));
    watch.execution("execute", &HERE).fail();
    let count = |ending: &str| {
        value(&metrics, &format!(r#"sandgate_executions_total{{door="execute",ending="{ending}"}}"#))
    };
    assert_eq!((count("timed_out"), count("abandoned"), count("failed")), (Some(1.0), Some(1.0), Some(1.0)));
    for limit in ["time", "output"] {
        let counted = value(&metrics, &format!(r#"sandgate_limits_hit_total{{limit="{limit}"}}"#));
        assert_eq!(counted, Some(1.0), "{limit}");
    }
}

#[test]
fn a_backend_has_its_series_before_anything_happened_there() {
    let metrics = Metrics::default();
    metrics.know_backends(["embedded", "far"]);
    let count = |name: &str| value(&metrics, name);
    for name in [
        r#"sandgate_backend_executions_total{backend="far",ending="ok"}"#,
        r#"sandgate_backend_executions_total{backend="far",ending="failed"}"#,
        r#"sandgate_backend_failures_total{backend="far"}"#,
    ] {
        assert_eq!(count(name), Some(0.0), "{name}");
    }
    let watch = Watch::begin(&metrics, "execute", &HeaderMap::new());
    watch.execution("execute", &Whereabouts { id: "cntr_1", backend: "far" }).fail();
    let report = BackendReport { name: "far".to_owned(), is_available: false, failures: 7 };
    let text = metrics.text(&Now { backends: vec![report], ..Now::default() });
    for line in [
        r#"sandgate_backend_executions_total{backend="far",ending="failed"} 1"#,
        r#"sandgate_backend_executions_total{backend="embedded",ending="failed"} 0"#,
        r#"sandgate_backend_failures_total{backend="far"} 7"#,
        r#"sandgate_backend_available{backend="far"} 0"#,
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
}

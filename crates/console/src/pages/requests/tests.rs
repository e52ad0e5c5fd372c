//! A request is found and told, and nothing that code made becomes part of the page.

use axum::http::StatusCode;
use sandgate_core::{Owner, now_ms};
use sandgate_store::LedgerRecord;
use serde_json::{Value, json};

use crate::testing::TestConsole;

const HOSTILE: &str = "<script>alert(1)</script>";

fn record(id: &str, kind: &'static str, parent: Option<&str>, body: &Value) -> LedgerRecord {
    LedgerRecord {
        id: id.to_owned(),
        request: format!("../{HOSTILE}?a=b#c"),
        parent: parent.map(str::to_owned),
        kind,
        owner: Owner::from_stored(HOSTILE.to_owned()),
        key: Some(HOSTILE.to_owned()),
        model: Some(HOSTILE.to_owned()),
        container: Some(HOSTILE.to_owned()),
        began_ms: now_ms() - 1000,
        ended_ms: Some(now_ms()),
        status: "completed".to_owned(),
        body: body.as_object().unwrap().clone(),
    }
}

/// A request with everything a hostile client, model and program could put into it.
async fn filled() -> TestConsole {
    let console = TestConsole::new(None).await;
    let execution = json!({
        "language": HOSTILE, "context": HOSTILE, "ending": HOSTILE, "limit": HOSTILE, "error": HOSTILE,
        "code": HOSTILE, "stdout": HOSTILE, "stderr": HOSTILE, "results": HOSTILE,
        "raised": {"name": HOSTILE, "value": HOSTILE},
        "shown": {"left_out": 2, "data": [
            {"kind": "image/png", "data": "aGVs\nbG8="},
            {"kind": "image/png", "data": "\"><script>alert(1)</script>"},
            {"kind": "text/html", "data": HOSTILE},
            {"kind": "image/svg+xml", "data": "<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>"},
            {"kind": "application/javascript", "data": HOSTILE},
        ]},
    });
    let turn = json!({"upstream": HOSTILE, "upstream_model": HOSTILE, "upstream_request_id": HOSTILE,
        "tokens": {"input": 1200, "output": 34}});
    let approval = json!({"by": HOSTILE, "rule": HOSTILE, "reason": HOSTILE, "code": HOSTILE});
    let request = json!({"api": HOSTILE, "path": HOSTILE, "error": HOSTILE, "duration_ms": 12.5, "turns": 2,
        "tokens": {"input": 1200, "output": 34}, "http_status": 200});
    let records = vec![
        record("led_r", "request", None, &request),
        record("led_t", "turn", Some("led_r"), &turn),
        record("led_a", "approval", Some("led_r"), &approval),
        record("led_e", "execution", Some("led_r"), &execution),
    ];
    console.store.put_ledger(records).await.unwrap();
    console
}

#[tokio::test]
async fn nothing_that_came_from_outside_becomes_markup() {
    let console = filled().await;
    let list = console.get("/console/requests", "").await.body;
    assert!(list.contains("1\u{202f}234") && !list.contains("<script>alert"), "{list}");
    let href = list.split("/console/requests/one").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    let one = console.get(&format!("/console/requests/one{href}"), "").await;
    assert_eq!(one.status, StatusCode::OK);
    assert!(!one.body.contains("<script>alert"), "{}", one.body);
    assert!(one.body.contains("src=\"data:image/png;base64,aGVsbG8=\""), "{}", one.body);
    assert_eq!(one.body.matches("<img").count(), 1);
    assert_eq!(one.body.matches("sandbox=\"\"").count(), 2);
    assert!(one.body.contains("2 more were too large to keep"));
}

#[tokio::test]
async fn a_document_of_code_is_given_to_a_frame_without_any_power() {
    let console = filled().await;
    let ask = async |place: &str| {
        let request =
            form_urlencoded::byte_serialize(format!("../{HOSTILE}?a=b#c").as_bytes()).collect::<String>();
        console.get(&format!("/console/requests/shown?id={request}&of=led_e&place={place}"), "").await
    };
    for (place, holds) in [("2", "<style>"), ("3", "<img alt")] {
        let frame = ask(place).await;
        assert_eq!(frame.status, StatusCode::OK);
        assert_eq!(frame.header("content-type"), "text/html; charset=utf-8");
        assert!(frame.body.contains(holds), "{}", frame.body);
        let policy = frame.header("content-security-policy");
        assert!(policy.starts_with("sandbox; default-src 'none'") && !policy.contains("script"), "{policy}");
    }
    for place in ["0", "1", "4", "9", "x"] {
        assert_eq!(ask(place).await.status, StatusCode::NOT_FOUND, "{place}");
    }
}

#[tokio::test]
async fn filters_find_what_they_say() {
    let console = filled().await;
    let other = LedgerRecord {
        request: "req_other".to_owned(),
        status: "failed".to_owned(),
        model: Some("m".to_owned()),
        key: None,
        ..record("led_o", "request", None, &json!({"api": "chat"}))
    };
    console.store.put_ledger(vec![other]).await.unwrap();
    for (query, other, hostile) in [
        ("", true, true),
        ("?q=other", true, false),
        ("?status=failed", true, false),
        ("?model=m", true, false),
        ("?status=completed", false, true),
        ("?q=nothing", false, false),
        ("?span=15m", true, true),
        ("?after=led_o", false, true),
        ("?after=led_gone", false, false),
    ] {
        let body = console.get(&format!("/console/requests{query}"), "").await.body;
        let found = (body.contains("id=\"led_o\""), body.contains("id=\"led_r\""));
        assert_eq!(found, (other, hostile), "{query}");
    }
}

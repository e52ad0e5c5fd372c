use super::*;

fn shown(end: &ProcessEnd) -> serde_json::Value {
    serde_json::to_value(event(end)).unwrap()
}

#[test]
fn ends_read_as_clients_expect_them() {
    let json = serde_json::json!({ "exited": true, "status": "exit status 0" });
    assert_eq!(shown(&ProcessEnd::Exited { code: 0 }), json);
    let json = serde_json::json!({
        "exitCode": 3, "exited": true, "status": "exit status 3", "error": "exit status 3"
    });
    assert_eq!(shown(&ProcessEnd::Exited { code: 3 }), json);
    let json = serde_json::json!({ "exitCode": -1, "status": "signal: killed", "error": "signal: killed" });
    assert_eq!(shown(&ProcessEnd::Signalled { signal: 9, reason: None }), json);
    assert_eq!(event(&ProcessEnd::Signalled { signal: 34, reason: None }).status, "signal: signal 34");
}

#[test]
fn a_limit_that_killed_is_named() {
    let end = ProcessEnd::Signalled { signal: 9, reason: Some("out of memory".to_owned()) };
    assert_eq!(event(&end).status, "signal: killed");
    assert_eq!(event(&end).error.unwrap(), "signal: killed (out of memory)");
}

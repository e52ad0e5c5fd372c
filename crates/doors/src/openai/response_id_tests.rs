//! The id of a response is found wherever it stands and however the pieces are cut.

use super::IdFinder;

/// Whole and byte by byte.
#[track_caller]
fn found(is_events: bool, text: &str) -> Option<String> {
    let whole = IdFinder::new(is_events).look(text.as_bytes());
    let mut finder = IdFinder::new(is_events);
    let pieces = text.as_bytes().chunks(1).find_map(|piece| finder.look(piece));
    assert_eq!(whole, pieces, "{text}");
    whole
}

#[test]
fn of_a_whole_response_it_is_its_own_id() {
    let id = |text: &str| found(false, text);
    let one = Some("resp_1".to_owned());
    assert_eq!(id(r#"{"id":"resp_1","metadata":{"id":"resp_2"}}"#), one);
    assert_eq!(id(r#"{"output":[{"id":"msg_1","x":{"id":"resp_3"}}], "id" : "resp_1"}"#), one);
    assert_eq!(
        id(r#"{"metadata":{"id":"a","response":{"id":"b"}},"response":{"id":"c"},"id":"resp_1"}"#),
        one
    );
    assert_eq!(id(r#"{"text":"\"id\":\"x\"","a":"\\","id":"resp_1"}"#), one);
    assert_eq!(id(r#"{"instructions":"id","id":"resp_1"}"#), one);
    assert_eq!(id(r#"{"id":"5f1c9a0e-1b1e"}"#).as_deref(), Some("5f1c9a0e-1b1e"));
    assert_eq!(id(r#"{"id":"a\u002fb"}"#).as_deref(), Some("a/b"));
    let far = format!(r#"{{"instructions":"{}","id":"resp_1"}}"#, "long ".repeat(100_000));
    assert_eq!(id(&far), one);
    let long = format!(r#"{{"id":"{}"}}"#, "x".repeat(512));
    assert_eq!(id(&long).map(|id| id.len()), Some(512));
    let long = format!(r#"{{"id":"{}"}}"#, "x".repeat(513));
    assert_eq!(id(&long), None);
    assert_eq!(id(&format!(r#"{{"id":7,"{}":"x"}}"#, "k".repeat(9000))), None);
    for text in
        ["", r#"{"id":"resp_"#, r#"{"id":7}"#, r#"{"id""#, r#"{"id":""}"#, r#"["id","x"]"#, r#"[{"id":"x"}]"#]
    {
        assert_eq!(id(text), None, "{text}");
    }
}

#[test]
fn of_events_it_is_that_of_the_response() {
    let id = |text: &str| found(true, text);
    let one = Some("resp_1".to_owned());
    let event = "event: response.created\ndata: {\"type\": \"x\", \"response\": {\"id\" : \"resp_1\"";
    assert_eq!(id(event), one);
    let event = "data: {\"id\": \"event_1\", \"item\": {\"id\": \"msg_1\"}, \"response\": null}\r\n\r\n";
    assert_eq!(id(event), None);
    let next = "data:{\"response\":{\"tools\":[{\"id\":\"x\"}],\"error\":{\"id\":\"y\"},\"id\":\"resp_1\"}}";
    assert_eq!(id(&format!("{event}: {{\"response\":{{\"id\":\"no\"}}}}\nid: 7\n{next}")), one);
    for text in [
        r#"{"response":{"id":"x"}}"#,
        r#"data: {"response":["id","x"]}"#,
        r#"data: {"response":{"a":{"id":"x"}},"id":"y"}"#,
        r#"data: {"other":{"response":{"id":"x"}}}"#,
        r#"data: {"response":"a","other":{"id":"x"}}"#,
    ] {
        assert_eq!(id(text), None, "{text}");
    }
}

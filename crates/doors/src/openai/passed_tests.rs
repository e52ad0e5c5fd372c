//! The id of a response is found wherever the pieces are cut.

use super::response_id;

#[test]
fn the_first_id_of_a_response_is_taken() {
    let found = |text: &str| response_id(text.as_bytes());
    assert_eq!(found(r#"{"id":"resp_1","metadata":{"id":"resp_2"}}"#).as_deref(), Some("resp_1"));
    let event = "event: response.created\ndata: {\"type\": \"x\", \"response\": {\"id\" : \"resp_1\"";
    assert_eq!(found(event).as_deref(), Some("resp_1"));
    assert_eq!(found(r#"{"id":"msg_1","x":{"id":"resp_3"}}"#).as_deref(), Some("resp_3"));
    for text in ["", r#"{"id":"resp_"#, r#"{"text":"\"id\":\"resp_1\""}"#, r#"{"id":7}"#, r#"{"id""#] {
        assert_eq!(found(text), None, "{text}");
    }
}

//! Tests of the reader of server-sent events.

use super::*;

#[test]
fn comments_are_skipped_and_events_read() {
    let bytes = b": keepalive\n\nevent: a\ndata: {\"type\":\"a\"}\n\n:\n\nevent: b\n: inside\ndata: {\"type\":\"b\"}\n\n";
    let kinds: Vec<Value> = read_events(bytes).unwrap().iter().map(|event| event["type"].clone()).collect();
    assert_eq!(kinds, ["a", "b"]);
}

#[test]
fn wrong_framing_is_refused() {
    let wrong: [&[u8]; 7] = [
        b"event: a\ndata: {\"type\":\"b\"}\n\n",
        b"data: {\"type\":\"a\"}\n\n",
        b"data: [DONE]\n\n",
        b"event: a\ndata: {\"type\":\"a\"}\n",
        b"event: a\ndata: {\"type\":\n\n",
        b"event: a\n\n",
        b"event: a\ndata: \"\xff\"\n\n",
    ];
    for bytes in wrong {
        assert!(read_events(bytes).is_err(), "{:?}", String::from_utf8_lossy(bytes));
    }
}

#[test]
fn a_chat_stream_ends_with_done() {
    assert_eq!(read_chunks(b"data: {}\n\ndata: [DONE]\n\n").unwrap().len(), 1);
    assert!(matches!(read_chunks(b"data: {}\n\n"), Err(FramingError::NotDone)));
    assert!(matches!(read_chunks(b"data: [DONE]\n\ndata: {}\n\n"), Err(FramingError::AfterDone)));
}

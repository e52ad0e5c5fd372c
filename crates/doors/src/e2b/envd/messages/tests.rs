//! The same message in both codecs.

use prost::Message;
use serde_json::json;

use super::filesystem::{EntryInfo, FileType, FilesystemEvent, WatchRequest};
use super::process::{
    DataEvent, Event, EventResponse, Input, Output, Selector, SendInputRequest, SendSignalRequest,
    StartRequest,
};
use super::timestamp::Timestamp;

#[test]
fn json_is_what_the_sdks_send() {
    let start: StartRequest = serde_json::from_value(json!({
        "process": { "cmd": "/bin/bash", "args": ["-l", "-c", "x"], "envs": { "A": "b" }, "cwd": "/tmp" },
        "pty": { "size": { "cols": 80, "rows": "24" } }, "stdin": false, "unknown": [1]
    }))
    .unwrap();
    let process = start.process.unwrap();
    assert_eq!((process.cmd.as_str(), process.args.len(), &process.envs["A"][..]), ("/bin/bash", 3, "b"));
    let size = start.pty.unwrap().size.unwrap();
    assert_eq!((size.cols, size.rows, start.stdin), (80, 24, Some(false)));
    let send: SendInputRequest =
        serde_json::from_value(json!({ "process": { "pid": 3 }, "input": { "stdin": "YQo=" } })).unwrap();
    assert_eq!(send.process.unwrap().selector, Some(Selector::Pid(3)));
    assert_eq!(send.input.unwrap().input, Some(Input::Stdin("a\n".into())));
    for signal in [json!("SIGNAL_SIGKILL"), json!(9)] {
        let ask = json!({ "process": { "tag": "t" }, "signal": signal });
        assert_eq!(serde_json::from_value::<SendSignalRequest>(ask).unwrap().signal, 9);
    }
    for ask in [json!({ "includeEntry": true }), json!({ "include_entry": true })] {
        assert!(serde_json::from_value::<WatchRequest>(ask).unwrap().include_entry);
    }
    assert!(serde_json::from_value::<StartRequest>(json!({ "stdin": "yes" })).is_err());
}

#[test]
fn json_leaves_defaults_out_and_writes_long_numbers_as_text() {
    let entry = EntryInfo {
        name: "a".to_owned(),
        r#type: FileType::File as i32,
        size: 12,
        modified_time: Some(Timestamp::from_millis(0)),
        is_symlink: true,
        ..EntryInfo::default()
    };
    let json = json!({
        "name": "a", "type": "FILE_TYPE_FILE", "size": "12", "modifiedTime": "1970-01-01T00:00:00Z",
        "isSymlink": true
    });
    assert_eq!(serde_json::to_value(&entry).unwrap(), json);
    let output = DataEvent { output: Some(Output::Stdout("hi".into())) };
    let event = EventResponse::from(Event::Data(output));
    assert_eq!(serde_json::to_value(&event).unwrap(), json!({ "event": { "data": { "stdout": "aGk=" } } }));
}

/// Written by hand from the numbers of the published definitions.
#[test]
fn protobuf_has_the_published_numbers() {
    let start = StartRequest::decode(&b"\x0a\x0f\x0a\x02sh\x12\x02-c\x1a\x05\x0a\x01A\x12\x00\x20\x00"[..]);
    let start = start.unwrap();
    assert_eq!((start.process.unwrap().cmd.as_str(), start.stdin), ("sh", Some(false)));
    let input = SendInputRequest::decode(&b"\x0a\x02\x08\x07\x12\x03\x12\x01x"[..]).unwrap();
    assert_eq!(input.process.unwrap().selector, Some(Selector::Pid(7)));
    assert_eq!(input.input.unwrap().input, Some(Input::Pty("x".into())));
    let end = super::process::EndEvent { exit_code: -1, exited: false, status: "s".to_owned(), error: None };
    assert_eq!(EventResponse::from(Event::End(end)).encode_to_vec(), b"\x0a\x07\x1a\x05\x08\x01\x1a\x01s");
    let event = FilesystemEvent { name: "f".to_owned(), r#type: 3, entry: None };
    assert_eq!(event.encode_to_vec(), b"\x0a\x01f\x10\x03");
}

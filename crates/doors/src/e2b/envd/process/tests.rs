//! The service through its own protocol, with ordinary processes behind it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::super::double::{Place, Streamed, frame, place, until};

fn bash(script: &str) -> Value {
    json!({ "process": { "cmd": "/bin/bash", "args": ["-c", script] }, "stdin": false })
}

async fn start(place: &Place, ask: &Value) -> Streamed {
    place.stream("process.Process/Start", "", ask).await
}

fn output(messages: &[Value], kind: &str) -> String {
    let pieces = messages.iter().filter_map(|message| message["event"]["data"][kind].as_str());
    let bytes: Vec<u8> = pieces.flat_map(|piece| STANDARD.decode(piece).unwrap()).collect();
    String::from_utf8(bytes).unwrap()
}

fn pid(started: &Value) -> u64 {
    started["event"]["start"]["pid"].as_u64().unwrap()
}

#[tokio::test]
async fn a_command_says_its_number_its_output_and_its_end() {
    let place = place().await;
    let mut ask = bash("echo out $FOO $BAR; echo err >&2; exit 3");
    ask["process"]["envs"] = json!({ "BAR": "baz" });
    let (messages, last) = start(&place, &ask).await.all().await;
    assert!(pid(&messages[0]) > 0);
    assert_eq!(output(&messages, "stdout"), "out bar baz\n");
    assert_eq!(output(&messages, "stderr"), "err\n");
    let end = json!({ "exitCode": 3, "exited": true, "status": "exit status 3", "error": "exit status 3" });
    assert_eq!(messages.last().unwrap()["event"]["end"], end);
    assert_eq!(last, json!({}));
}

#[tokio::test]
async fn a_working_directory_must_be_there() {
    let place = place().await;
    let mut ask = bash("basename $PWD");
    ask["process"]["cwd"] = "/nowhere".into();
    let (messages, last) = start(&place, &ask).await.all().await;
    assert!(messages.is_empty());
    let error = json!({ "code": "invalid_argument", "message": "cwd '/nowhere' does not exist" });
    assert_eq!(last, json!({ "error": error }));
    ask["process"]["cwd"] = "~".into();
    let (messages, _) = start(&place, &ask).await.all().await;
    assert_eq!(output(&messages, "stdout"), "user\n");
}

#[tokio::test]
async fn what_cannot_be_started_is_an_invalid_argument() {
    let place = place().await;
    for ask in [json!({ "process": { "cmd": "/no/such/program" } }), json!({})] {
        let (_, last) = start(&place, &ask).await.all().await;
        assert_eq!(last["error"]["code"], "invalid_argument", "{last}");
    }
}

#[tokio::test]
async fn the_deadline_of_the_call_ends_the_process() {
    let place = place().await;
    let stream =
        place.stream("process.Process/Start", "\nconnect-timeout-ms: 200", &bash("sleep 1000")).await;
    let (messages, last) = stream.all().await;
    assert_eq!(messages.len(), 1);
    assert_eq!(last["error"]["code"], "deadline_exceeded");
    assert_eq!(place.call("process.Process/List", &json!({})).await, (200, json!({})));
}

#[tokio::test]
async fn a_process_outlives_its_starter_and_can_be_joined_by_number_and_tag() {
    let place = place().await;
    let ask = json!({ "process": { "cmd": "/bin/cat" }, "tag": "cat" });
    let mut first = start(&place, &ask).await;
    let pid = pid(&first.message().await);
    drop(first);
    let (_, listed) = place.call("process.Process/List", &json!({})).await;
    assert_eq!(listed["processes"], json!([{ "config": { "cmd": "/bin/cat" }, "pid": pid, "tag": "cat" }]));
    let mut by_pid = place.stream("process.Process/Connect", "", &json!({ "process": { "pid": pid } })).await;
    let mut by_tag =
        place.stream("process.Process/Connect", "", &json!({ "process": { "tag": "cat" } })).await;
    assert_eq!(by_pid.message().await["event"]["start"]["pid"], pid);
    assert_eq!(by_tag.message().await["event"]["start"]["pid"], pid);
    let input = json!({ "process": { "pid": pid }, "input": { "stdin": "YQo=" } });
    assert_eq!(place.call("process.Process/SendInput", &input).await, (200, json!({})));
    assert_eq!(by_tag.message().await["event"]["data"]["stdout"], "YQo=");
    let close = json!({ "process": { "tag": "cat" } });
    assert_eq!(place.call("process.Process/CloseStdin", &close).await, (200, json!({})));
    let (messages, last) = by_pid.all().await;
    assert_eq!((output(&messages, "stdout"), last), ("a\n".to_owned(), json!({})));
    // Its end can be heard a little later too.
    let late = place.stream("process.Process/Connect", "", &json!({ "process": { "pid": pid } })).await;
    let (messages, _) = late.all().await;
    assert_eq!(messages[1]["event"]["end"]["status"], "exit status 0");
}

#[tokio::test]
async fn input_can_be_a_stream() {
    let place = place().await;
    let mut cat = start(&place, &json!({ "process": { "cmd": "/bin/cat" } })).await;
    let pid = pid(&cat.message().await);
    let head = "POST /process.Process/StreamInput\ncontent-type: application/connect+json";
    let messages = [
        json!({ "start": { "process": { "pid": pid } } }),
        json!({ "data": { "input": { "stdin": "YQo=" } } }),
        json!({ "keepalive": {} }),
        json!({ "data": { "input": { "stdin": "Ygo=" } } }),
    ];
    let body: Vec<u8> =
        messages.iter().flat_map(|message| frame(0, message.to_string().as_bytes())).collect();
    let (status, _, answer) = place.ask(head, body).await;
    assert_eq!((status, answer), (200, [frame(0, b"{}"), frame(2, b"{}")].concat()));
    place.call("process.Process/CloseStdin", &json!({ "process": { "pid": pid } })).await;
    assert_eq!(output(&cat.all().await.0, "stdout"), "a\nb\n");
    let orphan = frame(0, br#"{"data":{"input":{"stdin":"YQo="}}}"#);
    let (_, _, answer) = place.ask(head, orphan).await;
    assert!(String::from_utf8_lossy(&answer).contains("must begin with 'start'"));
}

#[tokio::test]
async fn signals_end_a_process_and_find_no_other() {
    let place = place().await;
    for (signal, status) in [("SIGNAL_SIGKILL", "signal: killed"), ("SIGNAL_SIGTERM", "signal: terminated")] {
        let mut sleep = start(&place, &bash("exec sleep 1000")).await;
        let pid = pid(&sleep.message().await);
        let ask = json!({ "process": { "pid": pid }, "signal": signal });
        assert_eq!(place.call("process.Process/SendSignal", &ask).await, (200, json!({})));
        let (messages, _) = sleep.all().await;
        let end = json!({ "exitCode": -1, "status": status, "error": status });
        assert_eq!(messages[0]["event"]["end"], end);
    }
    let ask = json!({ "process": { "pid": 999_999_999 }, "signal": "SIGNAL_SIGKILL" });
    let missing = json!({ "code": "not_found", "message": "process with pid 999999999 not found" });
    assert_eq!(place.call("process.Process/SendSignal", &ask).await, (404, missing));
    let ask = json!({ "process": { "pid": 1 }, "signal": "SIGNAL_UNSPECIFIED" });
    assert_eq!(place.call("process.Process/SendSignal", &ask).await.0, 501);
    assert_eq!(place.call("process.Process/SendSignal", &json!({ "signal": 9 })).await.0, 400);
}

#[tokio::test]
async fn a_terminal_has_one_output_and_can_be_resized() {
    let place = place().await;
    let ask = json!({ "process": { "cmd": "/bin/cat" }, "pty": { "size": { "cols": 80, "rows": 24 } } });
    let mut terminal = start(&place, &ask).await;
    let pid = pid(&terminal.message().await);
    let size = json!({ "process": { "pid": pid }, "pty": { "size": { "cols": 100, "rows": 50 } } });
    assert_eq!(place.call("process.Process/Update", &size).await, (200, json!({})));
    assert_eq!(output(&[terminal.message().await], "pty"), "[100x50]");
    let large = json!({ "process": { "pid": pid }, "pty": { "size": { "cols": 70000, "rows": 1 } } });
    assert_eq!(place.call("process.Process/Update", &large).await.0, 400);
    place.kill().await;
    assert!(terminal.next().await.is_none(), "the stream ends with the sandbox, and not well");
    let (status, body) = place.call("process.Process/List", &json!({})).await;
    assert_eq!((status, &body["message"]), (502, &json!("The sandbox was not found")));
}

/// The reader sees the last of a flood only after all before it: nothing is held but what is under way.
#[tokio::test]
async fn a_flood_waits_for_its_reader() {
    let place = place().await;
    let mut flood = start(&place, &bash("head -c 20000000 /dev/zero; echo done > ../../tmp/done")).await;
    flood.message().await;
    tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    let done = json!({ "path": "/tmp/done" });
    assert_eq!(place.call("filesystem.Filesystem/Stat", &done).await.0, 404, "all of it went somewhere");
    let (messages, _) = flood.all().await;
    assert_eq!(output(&messages, "stdout").len(), 20_000_000);
    until(async || place.call("filesystem.Filesystem/Stat", &done).await.0 == 200).await;
}

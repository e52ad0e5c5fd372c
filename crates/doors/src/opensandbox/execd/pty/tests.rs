//! Terminals as a client meets them: over a socket, with ordinary processes.

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use super::super::double::{World, local, until};

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

async fn served() -> (World, String) {
    let world = local().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let router = world.router.clone();
    tokio::spawn(async move { axum::serve(listener, router).await });
    (world, address)
}

async fn new(world: &World, body: Value) -> String {
    let (status, body) = world.json("POST /pty", &body).await;
    assert_eq!(status, 201);
    body["session_id"].as_str().unwrap().to_owned()
}

async fn connect(address: &str, id: &str, query: &str) -> Result<Socket, u16> {
    match connect_async(format!("ws://{address}/pty/{id}/ws{query}")).await {
        Ok((socket, _)) => Ok(socket),
        Err(Error::Http(response)) => Err(response.status().as_u16()),
        Err(error) => panic!("{error}"),
    }
}

/// The next frame that is not a ping.
async fn next(socket: &mut Socket) -> Message {
    loop {
        let frame = tokio::time::timeout(std::time::Duration::from_secs(30), socket.next()).await;
        match frame.expect("nothing came").unwrap().unwrap() {
            Message::Ping(_) => {}
            frame => return frame,
        }
    }
}

async fn word(socket: &mut Socket) -> Value {
    serde_json::from_str(next(socket).await.to_text().unwrap()).unwrap()
}

/// Everything the shell says up to a text.
async fn hear(socket: &mut Socket, text: &str) -> String {
    let mut heard = String::new();
    while !heard.contains(text) {
        if let Message::Binary(bytes) = next(socket).await {
            heard += &String::from_utf8_lossy(&bytes[1..]);
        }
    }
    heard
}

async fn type_in(socket: &mut Socket, text: &str) {
    let frame = [&[0], text.as_bytes()].concat();
    socket.send(Message::Binary(frame.into())).await.unwrap();
}

#[tokio::test]
async fn a_shell_is_typed_into_left_and_come_back_to() {
    let (world, address) = served().await;
    let id = new(&world, Value::Null).await;
    let (_, status) = world.json(&format!("GET /pty/{id}"), &Value::Null).await;
    assert_eq!((&status["running"], &status["output_offset"]), (&json!(false), &json!(0)));
    let mut socket = connect(&address, &id, "").await.unwrap();
    let connected = word(&mut socket).await;
    assert_eq!(connected, json!({"type": "connected", "session_id": id, "mode": "pty"}));
    type_in(&mut socket, "x=5; echo one $FOO\n").await;
    hear(&mut socket, "one bar\n").await;
    socket.send(Message::Text(r#"{"type":"ping"}"#.into())).await.unwrap();
    assert_eq!(word(&mut socket).await["type"], "pong");
    socket.send(Message::Text(r#"{"type":"dance"}"#.into())).await.unwrap();
    assert_eq!(word(&mut socket).await["code"], "INVALID_FRAME");
    assert_eq!(connect(&address, &id, "").await.unwrap_err(), 409);
    let mut other = connect(&address, &id, "?takeover=1&since=4").await.unwrap();
    let replay = next(&mut other).await.into_data();
    assert_eq!(replay.as_ref(), b"\x03\0\0\0\0\0\0\0\x04bar\n");
    assert_eq!(word(&mut other).await["type"], "connected");
    match next(&mut socket).await {
        Message::Close(Some(frame)) => assert_eq!(u16::from(frame.code), 4001),
        frame => panic!("{frame:?}"),
    }
    type_in(&mut other, "echo $x; exit 3\n").await;
    hear(&mut other, "5\n").await;
    assert_eq!(word(&mut other).await, json!({"type": "exit", "exit_code": 3}));
    assert!(matches!(next(&mut other).await, Message::Close(_)));
    let (_, status) = world.json(&format!("GET /pty/{id}"), &Value::Null).await;
    assert_eq!(status["running"], false);
}

#[tokio::test]
async fn without_a_terminal_errors_are_told_apart() {
    let (world, address) = served().await;
    let id = new(&world, json!({"command": "echo out; echo err >&2; read x", "cwd": "/tmp"})).await;
    let mut socket = connect(&address, &id, "?pty=0").await.unwrap();
    assert_eq!(word(&mut socket).await["mode"], "pipe");
    let mut frames = [next(&mut socket).await.into_data(), next(&mut socket).await.into_data()];
    frames.sort();
    assert_eq!(frames, [&b"\x01out\n"[..], &b"\x02err\n"[..]]);
    assert_eq!(world.json(&format!("DELETE /pty/{id}"), &Value::Null).await, (200, Value::Null));
    assert_eq!(word(&mut socket).await["type"], "exit");
    assert_eq!(world.json(&format!("DELETE /pty/{id}"), &Value::Null).await.0, 404);
    assert_eq!(connect(&address, &id, "").await.unwrap_err(), 404);
}

#[tokio::test]
async fn a_terminal_ends_with_its_sandbox() {
    let (world, address) = served().await;
    let id = new(&world, Value::Null).await;
    let mut socket = connect(&address, &id, "").await.unwrap();
    word(&mut socket).await;
    world.end().await;
    until(async || world.places.count() == 0).await;
    assert_eq!(word(&mut socket).await, json!({"type": "exit", "exit_code": -1}));
}

#[tokio::test]
async fn there_are_only_so_many() {
    let world = local().await;
    for _ in 0..super::MOST {
        new(&world, Value::Null).await;
    }
    assert_eq!(world.json("POST /pty", &Value::Null).await.0, 429);
    assert_eq!(world.json("POST /pty", &json!({"cwd": "/nowhere"})).await.0, 400);
}

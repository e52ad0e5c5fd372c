//! What is said through the websocket of a terminal: bytes behind one that says whose they are, and words in JSON.

use axum::extract::ws::Message;
use bytes::{BufMut, Bytes, BytesMut};
use serde::{Deserialize, Serialize};

use super::super::log::Source;

const STDIN: u8 = 0;
const STDOUT: u8 = 1;
const STDERR: u8 = 2;
const REPLAY: u8 = 3;

#[derive(Debug, Default, Serialize)]
pub(super) struct Word<'a> {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) session_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mode: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) code: Option<&'static str>,
}

impl Word<'_> {
    pub(super) fn error(code: &'static str, why: impl Into<String>) -> Self {
        Self { kind: "error", code: Some(code), error: Some(why.into()), ..Self::default() }
    }

    pub(super) fn message(&self) -> Message {
        Message::Text(serde_json::to_string(self).unwrap_or_default().into())
    }
}

pub(super) fn output(source: Source, bytes: &[u8]) -> Message {
    let kind = match source {
        Source::Out => STDOUT,
        Source::Err => STDERR,
    };
    let mut frame = BytesMut::with_capacity(bytes.len() + 1);
    frame.put_u8(kind);
    frame.put_slice(bytes);
    Message::Binary(frame.freeze())
}

/// What was said while nobody listened, and where it begins.
pub(super) fn replay(begins: u64, pieces: &[(Source, Bytes)]) -> Message {
    let mut frame = BytesMut::new();
    frame.put_u8(REPLAY);
    frame.put_u64(begins);
    for (_, piece) in pieces {
        frame.put_slice(piece);
    }
    Message::Binary(frame.freeze())
}

/// What a client wants.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Input(Bytes),
    Signal(i32),
    Resize { columns: u16, rows: u16 },
    Ping,
    Unknown(String),
    Nothing,
    Leave,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Spoken {
    #[serde(rename = "type")]
    kind: String,
    data: String,
    cols: u16,
    rows: u16,
    signal: String,
}

pub(super) fn read(message: Message) -> Asked {
    match message {
        Message::Binary(mut bytes) if bytes.first() == Some(&STDIN) => Asked::Input(bytes.split_off(1)),
        Message::Binary(_) | Message::Ping(_) | Message::Pong(_) => Asked::Nothing,
        Message::Text(text) => match serde_json::from_str::<Spoken>(&text) {
            Ok(spoken) => spoken.asked(),
            Err(_) => Asked::Unknown(String::new()),
        },
        Message::Close(_) => Asked::Leave,
    }
}

impl Spoken {
    fn asked(self) -> Asked {
        match self.kind.as_str() {
            "stdin" => Asked::Input(self.data.into()),
            "signal" => signal_number(&self.signal).map_or(Asked::Nothing, Asked::Signal),
            "resize" if self.cols > 0 && self.rows > 0 => {
                Asked::Resize { columns: self.cols, rows: self.rows }
            }
            "resize" => Asked::Nothing,
            "ping" => Asked::Ping,
            _ => Asked::Unknown(self.kind.chars().take(100).collect()),
        }
    }
}

fn signal_number(name: &str) -> Option<i32> {
    Some(match name.strip_prefix("SIG").unwrap_or(name) {
        "HUP" => 1,
        "INT" => 2,
        "QUIT" => 3,
        "KILL" => 9,
        "USR1" => 10,
        "USR2" => 12,
        "TERM" => 15,
        "CONT" => 18,
        "STOP" => 19,
        "TSTP" => 20,
        "WINCH" => 28,
        _ => return None,
    })
}

#[cfg(test)]
#[path = "frames_tests.rs"]
mod tests;

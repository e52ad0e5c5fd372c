//! Package `process`.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde::{Deserialize, Deserializer, Serialize};

use super::json::{self, is_default};

#[derive(Clone, PartialEq, Eq, prost::Message, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ProcessConfig {
    #[prost(string, tag = "1")]
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) cmd: String,
    #[prost(string, repeated, tag = "2")]
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) args: Vec<String>,
    #[prost(btree_map = "string, string", tag = "3")]
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) envs: BTreeMap<String, String>,
    #[prost(string, optional, tag = "4")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cwd: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, prost::Message, Deserialize)]
#[serde(default)]
pub(crate) struct Size {
    #[prost(uint32, tag = "1")]
    #[serde(deserialize_with = "json::number")]
    pub(crate) cols: u32,
    #[prost(uint32, tag = "2")]
    #[serde(deserialize_with = "json::number")]
    pub(crate) rows: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, prost::Message, Deserialize)]
#[serde(default)]
pub(crate) struct Pty {
    #[prost(message, optional, tag = "1")]
    pub(crate) size: Option<Size>,
}

#[derive(Clone, PartialEq, Eq, prost::Oneof, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Selector {
    #[prost(uint32, tag = "1")]
    Pid(#[serde(deserialize_with = "json::number")] u32),
    #[prost(string, tag = "2")]
    Tag(String),
}

#[derive(Clone, PartialEq, Eq, prost::Message, Deserialize)]
#[serde(default)]
pub(crate) struct ProcessSelector {
    #[prost(oneof = "Selector", tags = "1, 2")]
    #[serde(flatten)]
    pub(crate) selector: Option<Selector>,
}

#[derive(Clone, Copy, PartialEq, Eq, prost::Message, Deserialize)]
pub(crate) struct ListRequest {}

#[derive(Clone, PartialEq, Eq, prost::Message, Serialize)]
pub(crate) struct ProcessInfo {
    #[prost(message, optional, tag = "1")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) config: Option<ProcessConfig>,
    #[prost(uint32, tag = "2")]
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) pid: u32,
    #[prost(string, optional, tag = "3")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tag: Option<String>,
}

#[derive(Clone, PartialEq, Eq, prost::Message, Serialize)]
pub(crate) struct ListResponse {
    #[prost(message, repeated, tag = "1")]
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) processes: Vec<ProcessInfo>,
}

#[derive(Clone, PartialEq, Eq, prost::Message, Deserialize)]
#[serde(default)]
pub(crate) struct StartRequest {
    #[prost(message, optional, tag = "1")]
    pub(crate) process: Option<ProcessConfig>,
    #[prost(message, optional, tag = "2")]
    pub(crate) pty: Option<Pty>,
    #[prost(string, optional, tag = "3")]
    pub(crate) tag: Option<String>,
    /// Absent means true: older clients do not know of it.
    #[prost(bool, optional, tag = "4")]
    pub(crate) stdin: Option<bool>,
}

#[derive(Clone, PartialEq, Eq, prost::Message, Deserialize)]
#[serde(default)]
pub(crate) struct ConnectRequest {
    #[prost(message, optional, tag = "1")]
    pub(crate) process: Option<ProcessSelector>,
}

#[derive(Clone, PartialEq, Eq, prost::Message, Deserialize)]
#[serde(default)]
pub(crate) struct UpdateRequest {
    #[prost(message, optional, tag = "1")]
    pub(crate) process: Option<ProcessSelector>,
    #[prost(message, optional, tag = "2")]
    pub(crate) pty: Option<Pty>,
}

#[derive(Clone, PartialEq, Eq, prost::Message, Deserialize)]
#[serde(default)]
pub(crate) struct CloseStdinRequest {
    #[prost(message, optional, tag = "1")]
    pub(crate) process: Option<ProcessSelector>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, prost::Enumeration)]
#[repr(i32)]
pub(crate) enum Signal {
    Unspecified = 0,
    Kill = 9,
    Term = 15,
}

#[derive(Clone, PartialEq, Eq, prost::Message, Deserialize)]
#[serde(default)]
pub(crate) struct SendSignalRequest {
    #[prost(message, optional, tag = "1")]
    pub(crate) process: Option<ProcessSelector>,
    #[prost(enumeration = "Signal", tag = "2")]
    #[serde(deserialize_with = "signal_number")]
    pub(crate) signal: i32,
}

/// By name or by number.
fn signal_number<'de, D: Deserializer<'de>>(from: D) -> Result<i32, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Number(i32),
        Name(String),
    }
    Ok(match Written::deserialize(from)? {
        Written::Number(number) => number,
        Written::Name(name) => match name.as_str() {
            "SIGNAL_SIGKILL" => Signal::Kill as i32,
            "SIGNAL_SIGTERM" => Signal::Term as i32,
            // Also one that is not known: the service refuses both alike.
            _ => Signal::Unspecified as i32,
        },
    })
}

#[derive(Clone, PartialEq, Eq, prost::Oneof, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Input {
    #[prost(bytes = "bytes", tag = "1")]
    Stdin(#[serde(with = "json::base64")] Bytes),
    #[prost(bytes = "bytes", tag = "2")]
    Pty(#[serde(with = "json::base64")] Bytes),
}

#[derive(Clone, PartialEq, Eq, prost::Message, Deserialize)]
#[serde(default)]
pub(crate) struct ProcessInput {
    #[prost(oneof = "Input", tags = "1, 2")]
    #[serde(flatten)]
    pub(crate) input: Option<Input>,
}

#[derive(Clone, PartialEq, Eq, prost::Message, Deserialize)]
#[serde(default)]
pub(crate) struct SendInputRequest {
    #[prost(message, optional, tag = "1")]
    pub(crate) process: Option<ProcessSelector>,
    #[prost(message, optional, tag = "2")]
    pub(crate) input: Option<ProcessInput>,
}

#[derive(Clone, PartialEq, Eq, prost::Message, Deserialize)]
#[serde(default)]
pub(crate) struct StreamInputStart {
    #[prost(message, optional, tag = "1")]
    pub(crate) process: Option<ProcessSelector>,
}

#[derive(Clone, PartialEq, Eq, prost::Message, Deserialize)]
#[serde(default)]
pub(crate) struct StreamInputData {
    #[prost(message, optional, tag = "2")]
    pub(crate) input: Option<ProcessInput>,
}

#[derive(Clone, PartialEq, Eq, prost::Oneof, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum StreamInput {
    #[prost(message, tag = "1")]
    Start(StreamInputStart),
    #[prost(message, tag = "2")]
    Data(StreamInputData),
    #[prost(message, tag = "3")]
    Keepalive(KeepAlive),
}

#[derive(Clone, PartialEq, Eq, prost::Message, Deserialize)]
#[serde(default)]
pub(crate) struct StreamInputRequest {
    #[prost(oneof = "StreamInput", tags = "1, 2, 3")]
    #[serde(flatten)]
    pub(crate) event: Option<StreamInput>,
}

#[derive(Clone, Copy, PartialEq, Eq, prost::Message, Serialize, Deserialize)]
pub(crate) struct KeepAlive {}

/// The answer to what has none.
#[derive(Clone, Copy, PartialEq, Eq, prost::Message, Serialize)]
pub(crate) struct Empty {}

#[derive(Clone, Copy, PartialEq, Eq, prost::Message, Serialize)]
pub(crate) struct StartEvent {
    #[prost(uint32, tag = "1")]
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) pid: u32,
}

#[derive(Clone, PartialEq, Eq, prost::Oneof, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Output {
    #[prost(bytes = "bytes", tag = "1")]
    Stdout(#[serde(with = "json::base64")] Bytes),
    #[prost(bytes = "bytes", tag = "2")]
    Stderr(#[serde(with = "json::base64")] Bytes),
    #[prost(bytes = "bytes", tag = "3")]
    Pty(#[serde(with = "json::base64")] Bytes),
}

#[derive(Clone, PartialEq, Eq, prost::Message, Serialize)]
pub(crate) struct DataEvent {
    #[prost(oneof = "Output", tags = "1, 2, 3")]
    #[serde(flatten)]
    pub(crate) output: Option<Output>,
}

#[derive(Clone, PartialEq, Eq, prost::Message, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EndEvent {
    #[prost(sint32, tag = "1")]
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) exit_code: i32,
    #[prost(bool, tag = "2")]
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) exited: bool,
    #[prost(string, tag = "3")]
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) status: String,
    #[prost(string, optional, tag = "4")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
}

#[derive(Clone, PartialEq, Eq, prost::Oneof, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Event {
    #[prost(message, tag = "1")]
    Start(StartEvent),
    #[prost(message, tag = "2")]
    Data(DataEvent),
    #[prost(message, tag = "3")]
    End(EndEvent),
    #[prost(message, tag = "4")]
    Keepalive(KeepAlive),
}

#[derive(Clone, PartialEq, Eq, prost::Message, Serialize)]
pub(crate) struct ProcessEvent {
    #[prost(oneof = "Event", tags = "1, 2, 3, 4")]
    #[serde(flatten)]
    pub(crate) event: Option<Event>,
}

/// The answers of `Start` and of `Connect` have the same one field.
#[derive(Clone, PartialEq, Eq, prost::Message, Serialize)]
pub(crate) struct EventResponse {
    #[prost(message, optional, tag = "1")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) event: Option<ProcessEvent>,
}

impl From<Event> for EventResponse {
    fn from(event: Event) -> Self {
        Self { event: Some(ProcessEvent { event: Some(event) }) }
    }
}

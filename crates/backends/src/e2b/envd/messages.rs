//! Messages of E2B's agent.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::entry::EntryInfo;

#[derive(Debug, Serialize)]
pub(super) struct Path<'a> {
    pub(super) path: &'a str,
}

#[derive(Debug, Serialize)]
pub(super) struct ListDir<'a> {
    pub(super) path: &'a str,
    pub(super) depth: u32,
}

#[derive(Debug, Serialize)]
pub(super) struct Move<'a> {
    pub(super) source: &'a str,
    pub(super) destination: &'a str,
}

#[derive(Debug, Deserialize)]
pub(super) struct Entries {
    #[serde(default)]
    pub(super) entries: Vec<EntryInfo>,
}

#[derive(Debug, Deserialize)]
pub(super) struct OneEntry {
    pub(super) entry: Option<EntryInfo>,
}

/// The answer to what has none.
#[derive(Debug, Deserialize)]
pub(super) struct Nothing {}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Program {
    pub(super) cmd: String,
    pub(super) args: Vec<String>,
    pub(super) envs: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cwd: Option<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct Start {
    pub(super) process: Program,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) pty: Option<Pty>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tag: Option<String>,
    pub(super) stdin: bool,
}

#[derive(Debug, Serialize)]
pub(super) struct Pty {
    pub(super) size: Size,
}

#[derive(Debug, Serialize)]
pub(super) struct Size {
    pub(super) cols: u16,
    pub(super) rows: u16,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Selector {
    Pid(u32),
    Tag(String),
}

/// What all calls about one process have; the rest depends on the call.
#[derive(Debug, Serialize)]
pub(super) struct About {
    pub(super) process: Selector,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) input: Option<Input>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) signal: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) pty: Option<Pty>,
}

/// Bytes as base64.
#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Input {
    Stdin(String),
    Pty(String),
}

#[derive(Debug, Deserialize)]
pub(super) struct Listed {
    #[serde(default)]
    pub(super) processes: Vec<Running>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Running {
    #[serde(default)]
    pub(super) config: Program,
    #[serde(default)]
    pub(super) pid: u32,
    #[serde(default)]
    pub(super) tag: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct EventResponse {
    pub(super) event: Option<Event>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Event {
    Start {
        #[serde(default)]
        pid: u32,
    },
    Data(Data),
    End(End),
    Keepalive {},
}

/// Bytes as base64.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Data {
    Stdout(String),
    Stderr(String),
    Pty(String),
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct End {
    pub(super) exit_code: i32,
    pub(super) exited: bool,
    pub(super) status: String,
    pub(super) error: Option<String>,
}

/// The last frame of a stream.
#[derive(Debug, Deserialize)]
pub(super) struct Last {
    #[serde(default)]
    pub(super) error: Option<Refusal>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Refusal {
    #[serde(default)]
    pub(super) code: String,
    #[serde(default)]
    pub(super) message: String,
}

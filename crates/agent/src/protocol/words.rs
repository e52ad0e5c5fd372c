//! What is said in the frames.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// One operation. Paths are absolute, as the sandbox sees them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "operation", rename_all = "snake_case")]
pub enum Request {
    /// Whether it is there.
    Ping,
    Start {
        program: String,
        args: Vec<String>,
        /// All of it.
        env: Vec<(String, String)>,
        cwd: String,
        input: Input,
    },
    Stat {
        path: String,
    },
    List {
        path: String,
        depth: u32,
        /// More entries are an error.
        most: usize,
    },
    Open {
        path: String,
        start: u64,
        length: Option<u64>,
    },
    Write {
        path: String,
    },
    MakeDir {
        path: String,
    },
    Rename {
        from: String,
        to: String,
    },
    Remove {
        path: String,
    },
    SetMode {
        path: String,
        mode: u32,
    },
    Watch {
        path: String,
        recursive: bool,
    },
    Connect {
        port: u16,
    },
    /// To listen there for as long as the agent lives, and to say this to whoever connects.
    Answer {
        port: u16,
        said: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    Closed,
    Pipe,
    Terminal(Size),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Size {
    pub columns: u16,
    pub rows: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub kind: FailureKind,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    NotFound,
    Exists,
    IsFolder,
    NotAFolder,
    Denied,
    NoSpace,
    /// The request cannot be carried out as it is.
    Invalid,
    PortClosed,
    /// Too much is under way.
    Busy,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    File,
    Folder,
    Link,
    Other,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    pub path: String,
    pub kind: Kind,
    pub is_link: bool,
    pub link_target: Option<String>,
    pub size: u64,
    pub mode: u32,
    pub uid: u32,
    pub gid: u32,
    pub modified_ms: i64,
    pub attributes: BTreeMap<String, String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    Exited(i32),
    Signalled(i32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    Created,
    Written,
    Removed,
    Renamed,
    Permissions,
}

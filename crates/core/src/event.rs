//! What an execution tells, in the order it happened.

use serde::{Deserialize, Serialize};

/// A rich value: mime type to data. Binary kinds (`image/png`, …) are base64 text, as Jupyter has it.
pub type MimeBundle = serde_json::Map<String, serde_json::Value>;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// Its turn has come: the first event, where chart data was asked for.
    Started {
        execution_count: u64,
    },
    Stdout {
        text: String,
    },
    Stderr {
        text: String,
    },
    /// Something the code displayed: a figure, a table, `display(x)`.
    Display {
        data: MimeBundle,
    },
    /// The value of the last expression.
    Result {
        data: MimeBundle,
        execution_count: u64,
    },
    /// The code raised.
    Error(CodeError),
    /// Something the reader should know and the code did not say.
    Note {
        note: Note,
        text: String,
    },
    /// Files the execution made, changed or removed; sent once, before the end.
    Files {
        changes: Vec<FileChange>,
    },
    /// Always the last event, exactly once.
    Done {
        ending: Ending,
        text: String,
        execution_count: u64,
        duration_ms: f64,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CodeError {
    pub name: String,
    pub value: String,
    pub traceback: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Note {
    /// The interpreter is new: variables of earlier executions are gone, files are still there.
    FreshKernel,
    /// Output past the limit was dropped.
    OutputTrimmed,
    /// A child process was killed for memory while the interpreter lived on.
    ChildKilledForMemory,
    /// A process could not be started because of the limit.
    ProcessesRefused,
    /// There are more changed files than are listed.
    FilesTrimmed,
    /// The disk limit is passed: nothing can be written until files are removed.
    DiskFull,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    /// As the sandbox sees it, e.g. `/mnt/data/plot.png`.
    pub path: String,
    pub kind: FileChangeKind,
    pub size: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileChangeKind {
    Created,
    Modified,
    Removed,
}

/// How an execution ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Ending {
    Ok,
    /// The code raised; an [`Event::Error`] came before.
    Raised,
    /// Somebody interrupted it.
    Interrupted,
    TimedOut,
    /// A limit ended it; the text of the event says which and its value.
    LimitHit {
        limit: LimitKind,
    },
    /// The interpreter died on a signal (a crash, or the code killed itself).
    Signalled {
        signal: i32,
    },
    /// The code left the interpreter (`os._exit`).
    Exited {
        code: i32,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitKind {
    Memory,
    Output,
    Disk,
}

impl Ending {
    /// The process exit code a shell user expects.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Raised => 1,
            Self::Interrupted => 130,
            Self::TimedOut => 124,
            Self::LimitHit { limit: LimitKind::Memory } => 137,
            Self::LimitHit { limit: LimitKind::Output | LimitKind::Disk } => 1,
            Self::Signalled { signal } => u8::try_from(signal).map_or(255, |n| n.saturating_add(128)),
            Self::Exited { code } => u8::try_from(code).unwrap_or(255),
        }
    }
}

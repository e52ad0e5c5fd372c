//! How a process ended, in the words of Go's `os.ProcessState`, which clients show to people.

use sandgate_core::ProcessEnd;

/// The code it ended with (-1: none, it was killed), and the words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) exited: bool,
    pub(crate) status: String,
    /// None: it went well.
    pub(crate) error: Option<String>,
}

impl From<&ProcessEnd> for Ended {
    fn from(end: &ProcessEnd) -> Self {
        match end {
            ProcessEnd::Exited { code } => {
                let status = format!("exit status {code}");
                let error = (*code != 0).then(|| status.clone());
                Self { code: *code, exited: true, status, error }
            }
            ProcessEnd::Signalled { signal, reason } => killed(*signal, reason.as_deref()),
            ProcessEnd::TimedOut => killed(9, Some("it ran for longer than its timeout")),
        }
    }
}

fn killed(signal: i32, reason: Option<&str>) -> Ended {
    let status = format!("signal: {}", name(signal));
    let error = match reason {
        Some(reason) => format!("{status} ({reason})"),
        None => status.clone(),
    };
    Ended { code: -1, exited: false, status, error: Some(error) }
}

fn name(signal: i32) -> String {
    let known = match signal {
        1 => "hangup",
        2 => "interrupt",
        3 => "quit",
        4 => "illegal instruction",
        5 => "trace/breakpoint trap",
        6 => "aborted",
        7 => "bus error",
        8 => "floating point exception",
        9 => "killed",
        10 => "user defined signal 1",
        11 => "segmentation fault",
        12 => "user defined signal 2",
        13 => "broken pipe",
        14 => "alarm clock",
        15 => "terminated",
        other => return format!("signal {other}"),
    };
    known.to_owned()
}

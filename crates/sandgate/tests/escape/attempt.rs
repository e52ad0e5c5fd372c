//! The attempts: their files, the comments they begin with, and what a run of one came to.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

/// Whose job it may be to stop an attempt.
const LAYERS: [&str; 16] = [
    "caps",
    "cgroup",
    "cgroupns",
    "descriptors",
    "environment",
    "ipc",
    "landlock",
    "mount",
    "net",
    "nnp",
    "pid",
    "procmask",
    "rlimit",
    "seccomp",
    "user",
    "uts",
];

#[derive(Debug)]
pub(crate) struct Attempt {
    /// Group and name, as in `files/shadow`.
    pub(crate) name: String,
    pub(crate) layer: String,
    pub(crate) also: Vec<String>,
    pub(crate) control: Control,
    /// Reasons that count.
    pub(crate) blocked: Vec<String>,
    /// The whole file, with its placeholders.
    pub(crate) text: String,
}

/// What it must come to with no sandbox around it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Control {
    Escapes,
    /// This kernel has no such thing and says so; one that has it lets the attempt escape.
    Refused(String),
}

impl Attempt {
    /// No other layer stops it, and it can be seen to work on this kernel.
    pub(crate) fn stands_alone(&self) -> bool {
        self.also.is_empty() && self.control == Control::Escapes
    }

    pub(crate) fn concerns(&self, layer: &str) -> bool {
        self.layer == layer || self.also.iter().any(|also| also == layer)
    }

    pub(crate) fn is_blocked_rightly(&self, verdict: &Verdict) -> bool {
        matches!(verdict, Verdict::Blocked(reason) if self.blocked.contains(reason))
    }
}

/// The one line an attempt prints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Escaped(String),
    Blocked(String),
    /// A fault of the attempt, of the harness or of the engine.
    Neither(String),
}

impl Verdict {
    pub(crate) fn read(output: &str) -> Self {
        let line = output.trim_end_matches('\n');
        match line.split_once(' ') {
            Some(("ESCAPED", what)) if !line.contains('\n') => Self::Escaped(what.to_owned()),
            Some(("BLOCKED", why)) if !line.contains('\n') => Self::Blocked(why.to_owned()),
            _ => Self::Neither(format!("{line:?}")),
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Escaped(what) => write!(f, "ESCAPED {what}"),
            Self::Blocked(why) => write!(f, "BLOCKED {why}"),
            Self::Neither(what) => write!(f, "NEITHER {what}"),
        }
    }
}

pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/escape")
}

/// All of them, by name.
pub(crate) fn all() -> Result<Vec<Attempt>> {
    let mut attempts = Vec::new();
    for group in fs::read_dir(folder().join("attempts"))? {
        let group = group?.path();
        if !group.is_dir() {
            continue;
        }
        for file in fs::read_dir(&group)? {
            let path = file?.path();
            attempts.push(read(&path).with_context(|| path.display().to_string())?);
        }
    }
    attempts.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(attempts)
}

fn read(path: &Path) -> Result<Attempt> {
    let text = fs::read_to_string(path)?;
    let part =
        |path: Option<&Path>| path.and_then(Path::file_stem).map(|stem| stem.to_string_lossy().into_owned());
    let group = part(path.parent()).context("no group")?;
    ensure!(path.extension().is_some_and(|kind| kind == "py"), "not a .py file");
    let name = format!("{group}/{}", part(Some(path)).context("no name")?);

    let mut headers = text.lines().map_while(|line| line.strip_prefix("# ")?.split_once(": ")).peekable();
    let mut header = |wanted: &str| {
        let found = headers.next_if(|(word, _)| *word == wanted);
        found.map(|(_, value)| value).with_context(|| format!("'{wanted}' is not where it should be"))
    };
    header("tries")?;
    let layer = header("layer")?.to_owned();
    let also =
        header("also").map_or_else(|_| Vec::new(), |also| also.split(", ").map(str::to_owned).collect());
    let control = match header("control")?.split_once(' ') {
        None => Control::Escapes,
        Some(("refused", why)) => {
            let (number, because) = why.split_once(' ').context("'control' says no reason")?;
            ensure!(because.starts_with("because "), "'control' says no reason");
            Control::Refused(number.to_owned())
        }
        Some(_) => bail!("'control' is neither 'escapes' nor 'refused'"),
    };
    let blocked = header("blocked")?.split('|').map(str::to_owned).collect();
    for name in also.iter().chain([&layer]) {
        ensure!(LAYERS.contains(&name.as_str()), "there is no layer '{name}'");
    }
    Ok(Attempt { name, layer, also, control, blocked, text })
}

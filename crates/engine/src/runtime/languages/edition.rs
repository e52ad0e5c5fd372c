//! One of the versions of a runtime that can stand side by side: the one that Sandgate chooses, or a release line that
//! was asked for by name, such as `node@20`.

use std::fmt;

use super::{Tool, version_of};

/// What is added, found and removed as one; its name is that of its folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Edition {
    pub tool: Tool,
    /// None: whichever this version of Sandgate chooses.
    line: Option<&'static str>,
}

/// Why a name means no edition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoSuchEdition {
    #[error("there is no runtime '{0}'")]
    Tool(String),
    #[error("{} {wanted} cannot be added; what can: {}", .tool.title(), known(*.tool))]
    Version { tool: Tool, wanted: String },
}

fn known(tool: Tool) -> String {
    let names: Vec<&str> = Edition::of(tool).map(Edition::name).collect();
    names.join(", ")
}

/// A release line and the lock of the package that holds it; the distribution's packages have no lock of ours.
struct Line {
    name: &'static str,
    /// With that of its tool.
    whole_name: &'static str,
    lock: Option<&'static str>,
}

macro_rules! packaged {
    ($tool:literal, $name:literal) => {
        Line { name: $name, whole_name: concat!($tool, "@", $name), lock: None }
    };
}
macro_rules! locked {
    ($tool:literal, $name:literal) => {{
        const LOCK: &str =
            include_str!(concat!("../../../../../runtimes/releases/", $tool, "-", $name, ".lock"));
        Line { lock: Some(LOCK), ..packaged!($tool, $name) }
    }};
}

/// The newest first.
const NODE: &[Line] = &[locked!("node", "24"), locked!("node", "22"), locked!("node", "20")];
const GO: &[Line] = &[
    locked!("go", "1.27"),
    locked!("go", "1.26"),
    locked!("go", "1.25"),
    locked!("go", "1.24"),
    locked!("go", "1.23"),
];
/// The driver needs 17 at least.
const JAVA: &[Line] = &[packaged!("java", "25"), packaged!("java", "21"), packaged!("java", "17")];

fn lines(tool: Tool) -> &'static [Line] {
    match tool {
        Tool::Node => NODE,
        Tool::Go => GO,
        Tool::Java => JAVA,
        Tool::R => &[],
    }
}

impl Edition {
    /// By a name such as `node`, `go@1.24` or `java@v17`.
    pub fn parse(name: &str) -> Result<Self, NoSuchEdition> {
        let (tool, wanted) = name.split_once('@').map_or((name, None), |(tool, wanted)| (tool, Some(wanted)));
        let tool = Tool::parse(tool).ok_or_else(|| NoSuchEdition::Tool(name.chars().take(100).collect()))?;
        let Some(wanted) = wanted else { return Ok(tool.into()) };
        let unknown = || NoSuchEdition::Version { tool, wanted: wanted.chars().take(100).collect() };
        Self::for_version(tool, wanted).ok_or_else(unknown)
    }

    /// The one to add for a version that was asked for.
    #[must_use]
    pub fn for_version(tool: Tool, wanted: &str) -> Option<Self> {
        let of_line = |line: &&Line| version_of(line.version(), wanted) || version_of(line.name, wanted);
        lines(tool).iter().find(of_line).map(|line| Self { tool, line: Some(line.name) })
    }

    /// All that there can be, the chosen one first and then the newest.
    pub fn of(tool: Tool) -> impl Iterator<Item = Self> {
        let named = lines(tool).iter().map(move |line| Self { tool, line: Some(line.name) });
        std::iter::once(Self::from(tool)).chain(named)
    }

    /// The release line, unless it is the chosen one.
    #[must_use]
    pub fn line(self) -> Option<&'static str> {
        self.line
    }

    /// What pins it, where it is not the chosen one.
    pub(super) fn lock(self) -> Option<&'static str> {
        self.known()?.lock
    }

    fn known(self) -> Option<&'static Line> {
        lines(self.tool).iter().find(|line| Some(line.name) == self.line)
    }

    #[must_use]
    pub fn name(self) -> &'static str {
        self.known().map_or(self.tool.name(), |line| line.whole_name)
    }

    /// As people write it.
    #[must_use]
    pub fn title(self) -> String {
        self.line.map_or_else(|| self.tool.title().to_owned(), |line| format!("{} {line}", self.tool.title()))
    }
}

impl Line {
    /// As exactly as it is known before it is there.
    fn version(&self) -> &'static str {
        let pinned = self.lock.and_then(|lock| lock.split_once("==")?.1.split_whitespace().next());
        pinned.unwrap_or(self.name)
    }
}

impl From<Tool> for Edition {
    fn from(tool: Tool) -> Self {
        Self { tool, line: None }
    }
}

impl fmt::Display for Edition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
#[path = "edition_tests.rs"]
mod tests;

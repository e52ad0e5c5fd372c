//! The languages by name, and the runtime each of them needs.

use std::fmt;

/// A language that contexts can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Language {
    Python,
    Bash,
    JavaScript,
    TypeScript,
    Java,
    Go,
    R,
}

/// A runtime that is added by name; a folder of that name holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Tool {
    Node,
    Java,
    Go,
    R,
}

impl Language {
    pub const ALL: [Self; 7] =
        [Self::Python, Self::Bash, Self::JavaScript, Self::TypeScript, Self::Java, Self::Go, Self::R];

    /// By its name or one that people use for it, in any case.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "python" | "py" | "python3" => Self::Python,
            "bash" | "sh" | "shell" => Self::Bash,
            "javascript" | "js" | "node" | "nodejs" => Self::JavaScript,
            "typescript" | "ts" => Self::TypeScript,
            "java" => Self::Java,
            "go" | "golang" => Self::Go,
            "r" => Self::R,
            _ => return None,
        })
    }

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::Bash => "bash",
            Self::JavaScript => "javascript",
            Self::TypeScript => "typescript",
            Self::Java => "java",
            Self::Go => "go",
            Self::R => "r",
        }
    }

    /// As people write it.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Python => "Python",
            Self::Bash => "Bash",
            Self::JavaScript => "JavaScript",
            Self::TypeScript => "TypeScript",
            Self::Java => "Java",
            Self::Go => "Go",
            Self::R => "R",
        }
    }

    /// By the end of a file's name.
    #[must_use]
    pub fn of_file(extension: &str) -> Option<Self> {
        Some(match extension {
            "py" => Self::Python,
            "sh" | "bash" => Self::Bash,
            "js" | "mjs" | "cjs" => Self::JavaScript,
            "ts" | "mts" | "cts" => Self::TypeScript,
            "java" | "jsh" => Self::Java,
            "go" => Self::Go,
            "R" | "r" => Self::R,
            _ => return None,
        })
    }

    /// None: it is always there.
    #[must_use]
    pub fn tool(self) -> Option<Tool> {
        match self {
            Self::Python | Self::Bash => None,
            Self::JavaScript | Self::TypeScript => Some(Tool::Node),
            Self::Java => Some(Tool::Java),
            Self::Go => Some(Tool::Go),
            Self::R => Some(Tool::R),
        }
    }

    /// The variable of a sandbox by which one of several versions is asked for.
    #[must_use]
    pub fn version_variable(self) -> Option<&'static str> {
        match self {
            Self::Python => Some("PYTHON_VERSION"),
            Self::JavaScript | Self::TypeScript => Some("NODE_VERSION"),
            Self::Java => Some("JAVA_VERSION"),
            Self::Go => Some("GO_VERSION"),
            Self::Bash | Self::R => None,
        }
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Tool {
    pub const ALL: [Self; 4] = [Self::Node, Self::Java, Self::Go, Self::R];

    /// By its own name or by that of a language it runs.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Language::parse(name).and_then(Language::tool)
    }

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Node => "node",
            Self::Java => "java",
            Self::Go => "go",
            Self::R => "r",
        }
    }

    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Node => "Node.js",
            Self::Java => "Java",
            Self::Go => "Go",
            Self::R => "R",
        }
    }

    pub fn languages(self) -> impl Iterator<Item = Language> {
        Language::ALL.into_iter().filter(move |language| language.tool() == Some(self))
    }
}

impl fmt::Display for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
#[path = "language_tests.rs"]
mod tests;

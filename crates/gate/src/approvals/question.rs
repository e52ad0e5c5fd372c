//! What is asked before code runs, and what can come of it.

use std::fmt;

use sandgate_core::{ContainerId, Owner};
use serde::Serialize;

/// May this run?
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    pub code: &'a str,
    pub language: &'a str,
    /// The model that wrote it; None where a client sent it itself.
    pub model: Option<&'a str>,
    /// The id of the key; None for the master key, and at a server without keys.
    pub key: Option<&'a str>,
    pub owner: &'a Owner,
    pub container: &'a ContainerId,
    pub container_name: Option<&'a str>,
    /// The API that it came by, such as `responses`, `chat` or `execute`.
    pub door: &'a str,
    pub request_id: &'a str,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Allowed(Permission),
    Denied(Denial),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permission {
    pub by: DecidedBy,
    /// What was said with it, if anything.
    pub reason: Option<String>,
}

/// Nothing ran, and this is why. The reason is told to the model and shown to the client.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Denial {
    pub by: DecidedBy,
    pub reason: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "by", content = "rule")]
pub enum DecidedBy {
    /// Nothing is configured, so nothing was asked.
    Nobody,
    /// No rule spoke of it.
    Default,
    /// The rule of this name.
    Rule(String),
    Webhook,
    /// Whoever answers for people, or their time ran out.
    Person,
}

impl Denial {
    pub(super) fn new(by: DecidedBy, reason: impl Into<String>) -> Self {
        Self { by, reason: reason.into() }
    }

    /// Nobody would hear of it.
    pub(crate) fn left() -> Self {
        Self::new(DecidedBy::Nobody, "whoever asked has left")
    }
}

impl DecidedBy {
    /// A word for it, for records and labels.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Nobody => "nobody",
            Self::Default => "default",
            Self::Rule(_) => "rule",
            Self::Webhook => "webhook",
            Self::Person => "person",
        }
    }

    /// The name of the rule that decided.
    #[must_use]
    pub fn rule(&self) -> Option<&str> {
        match self {
            Self::Rule(name) => Some(name),
            Self::Nobody | Self::Default | Self::Webhook | Self::Person => None,
        }
    }
}

impl fmt::Display for DecidedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rule(name) => write!(f, "rule '{name}'"),
            Self::Nobody | Self::Default | Self::Webhook | Self::Person => f.write_str(self.kind()),
        }
    }
}

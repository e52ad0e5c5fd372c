//! What is asked before code runs, and what can come of it.

use std::fmt;

use sandgate_core::{ContainerId, Owner};
use serde::{Serialize, Serializer};

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

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecidedBy {
    /// Nothing is configured, so nothing was asked.
    Nobody,
    /// No rule spoke of it.
    Default,
    /// The rule of this name.
    Rule(String),
    Webhook,
    /// This one; None: nobody did in time, or there was no room to wait for anybody.
    Person(Option<Decider>),
}

/// A person, by the key that is theirs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decider {
    Master,
    /// The id of the key.
    Key(String),
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
            Self::Person(_) => "person",
        }
    }

    /// The name of the rule that decided.
    #[must_use]
    pub fn rule(&self) -> Option<&str> {
        match self {
            Self::Rule(name) => Some(name),
            Self::Nobody | Self::Default | Self::Webhook | Self::Person(_) => None,
        }
    }

    /// Which person decided: `master`, or the id of a key.
    #[must_use]
    pub fn person(&self) -> Option<&str> {
        match self {
            Self::Person(Some(decider)) => Some(decider.name()),
            Self::Person(None) | Self::Nobody | Self::Default | Self::Rule(_) | Self::Webhook => None,
        }
    }
}

impl Decider {
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Master => "master",
            Self::Key(id) => id,
        }
    }
}

impl Serialize for DecidedBy {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let known = [("by", Some(self.kind())), ("rule", self.rule()), ("person", self.person())];
        to.collect_map(known.into_iter().filter_map(|(name, value)| Some((name, value?))))
    }
}

impl fmt::Display for DecidedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rule(name) => write!(f, "rule '{name}'"),
            Self::Person(Some(decider)) => write!(f, "person '{}'", decider.name()),
            Self::Nobody | Self::Default | Self::Webhook | Self::Person(None) => f.write_str(self.kind()),
        }
    }
}

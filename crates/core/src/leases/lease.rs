//! One container lent for a time, under an id in the form of the door that lent it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Parsed;
use crate::{ContainerId, NewContainer, Owner};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lease {
    pub id: String,
    /// Which door lent it; another one does not know it.
    pub door: String,
    pub owner: Owner,
    pub container: ContainerId,
    #[serde(default)]
    pub metadata: BTreeMap<String, String>,
    /// Milliseconds since 1970, when it was ready for use.
    pub started_ms: u64,
    /// Milliseconds since 1970; None: it has no end.
    pub ends_ms: Option<u64>,
    pub on_end: OnEnd,
    /// Whether traffic wakes it when it is paused.
    pub wakes: bool,
    /// Whether its time goes on while it is paused.
    #[serde(default)]
    pub ends_paused: bool,
    pub state: LeaseState,
    /// It was paused with its files alone, so that nothing but a wish for it starts it again.
    #[serde(default)]
    pub files_only: bool,
    /// The door's own.
    #[serde(default)]
    pub details: Value,
    #[serde(skip)]
    pub parsed: Parsed,
}

impl Lease {
    /// Its time is over. One that is paused has all the time there is, unless its time goes on.
    #[must_use]
    pub fn is_over(&self, now_ms: u64) -> bool {
        (self.state == LeaseState::Running || self.ends_paused)
            && self.ends_ms.is_some_and(|end| end <= now_ms)
    }
}

/// What happens when the time is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnEnd {
    Delete,
    Pause,
    /// With its files alone: what was in memory is gone when it is used again.
    PauseFiles,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeaseState {
    Running,
    Paused,
}

/// What a lease is made from.
#[derive(Clone, Debug)]
pub struct NewLease {
    pub id: String,
    pub door: &'static str,
    pub metadata: BTreeMap<String, String>,
    /// Milliseconds it lasts from when it is ready; None: it has no end.
    pub lasts_ms: Option<u64>,
    pub on_end: OnEnd,
    pub wakes: bool,
    pub ends_paused: bool,
    pub details: Value,
    pub container: NewContainer,
}

//! What one key may do: set by the operator when it makes the key, changed at any time.

use serde::{Deserialize, Serialize};

use crate::BackendError;
use crate::network::{InvalidTarget, NetworkCeiling};

/// Bounds of a key. What is not set is bounded by the server's own settings only.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct KeyLimits {
    /// Names of models, with `*` for any text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub models: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_per_minute: Option<u32>,
    /// Executions of its owner at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub executions: Option<u32>,
    /// Sandboxes of its owner that live at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandboxes: Option<u32>,
    /// Containers of its owner, asleep or not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub containers: Option<u32>,
    /// Memory of one container.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// What containers may be allowed to reach at most, as words of a network policy: hosts (`example.org`,
    /// `*.example.org`), ranges of addresses, `registries`, or `open` alone; an empty list: nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<Vec<String>>,
    /// The backend its code runs on, and no other; None: the server's default, or whichever a request names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backend: Option<String>,
    /// What a single request asks for where it makes a container; no limit of the key.
    #[serde(skip)]
    pub asked_backend: Option<String>,
    /// Whether records of executions hold the code and its output; None: what the server's settings say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_code: Option<bool>,
    /// Whether it may sign in to the console, and there do what the operator does but for making keys.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub console: bool,
}

/// Less than a kernel needs to start is a mistake in the unit.
const LEAST_MEMORY: u64 = 64 << 20;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidLimits {
    #[error("'requests_per_minute' must be at least 1; revoke the key to stop it")]
    NoRequests,
    #[error("'memory_bytes' must be at least {LEAST_MEMORY} (64 MiB)")]
    TooLittleMemory,
    #[error("'models' must name at least one model, or be left out")]
    NoModels,
    #[error("'network': {0}")]
    Network(#[from] InvalidTarget),
}

impl KeyLimits {
    pub fn check(&self) -> Result<(), InvalidLimits> {
        if self.requests_per_minute == Some(0) {
            return Err(InvalidLimits::NoRequests);
        }
        if self.memory_bytes.is_some_and(|bytes| bytes < LEAST_MEMORY) {
            return Err(InvalidLimits::TooLittleMemory);
        }
        if self.models.as_ref().is_some_and(|models| models.is_empty()) {
            return Err(InvalidLimits::NoModels);
        }
        if let Some(words) = &self.network {
            NetworkCeiling::from_words(words.iter().map(String::as_str))?;
        }
        Ok(())
    }

    #[must_use]
    pub fn allows_model(&self, name: &str) -> bool {
        match &self.models {
            None => true,
            Some(models) => models.iter().any(|pattern| matches(pattern, name)),
        }
    }

    /// The backend for a new container: the key's own, and what was asked for only where that is the same.
    pub fn backend_for(&self, asked: Option<String>) -> Result<Option<String>, BackendError> {
        match (&self.backend, self.asked_backend.clone().or(asked)) {
            (Some(own), Some(asked)) if *own != asked => {
                Err(BackendError::OtherBackend { own: own.clone(), asked })
            }
            (Some(own), _) => Ok(Some(own.clone())),
            (None, asked) => Ok(asked),
        }
    }

    /// Whether the key may use what is on this backend.
    pub fn check_backend(&self, on: &str) -> Result<(), BackendError> {
        match &self.backend {
            Some(own) if own != on => {
                Err(BackendError::OtherBackend { own: own.clone(), asked: on.to_owned() })
            }
            _ => Ok(()),
        }
    }

    /// The lesser of the server's bound and the key's.
    #[must_use]
    pub fn memory_within(&self, server: u64) -> u64 {
        self.memory_bytes.map_or(server, |own| own.min(server))
    }
}

/// Whether `name` is what `pattern` says, with `*` for any text, none too.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut left) = name.strip_prefix(first) else { return false };
    let mut parts = rest.split('*').peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return left.ends_with(part);
        }
        // The earliest place leaves the most for what follows.
        let Some(at) = left.find(part) else { return false };
        left = &left[at + part.len()..];
    }
    true
}

#[cfg(test)]
#[path = "key_limits_tests.rs"]
mod tests;

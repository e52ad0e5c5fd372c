//! Secrets: named in the file, looked up elsewhere, never printed.

use std::fmt;

use schemars::JsonSchema;
use serde::Deserialize;

/// A secret as written: `env:NAME`, `os.environ/NAME`, `file:PATH`, or the secret itself.
#[derive(Clone, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(transparent)]
pub(crate) struct SecretText(String);

/// A secret that was found.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret(String);

impl Secret {
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl SecretText {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The secret itself. What is missing is named; what it is, never.
    pub(crate) fn find(&self) -> Result<Secret, String> {
        let Self(text) = self;
        let variable = text.strip_prefix("env:").or_else(|| text.strip_prefix("os.environ/"));
        let found = if let Some(name) = variable {
            let name = name.trim();
            std::env::var(name).map_err(|_| format!("the variable {name} is not set"))?
        } else if let Some(path) = text.strip_prefix("file:") {
            std::fs::read_to_string(path)
                .map_err(|cause| format!("the file {path} cannot be read: {cause}"))?
        } else {
            text.clone()
        };
        match found.trim() {
            "" => Err("the secret is empty".to_owned()),
            secret => Ok(Secret(secret.to_owned())),
        }
    }
}

/// A variable of the environment that holds more than blanks.
pub(crate) fn set_variable(name: &str) -> Option<String> {
    std::env::var(name).ok().map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

#[cfg(test)]
#[path = "secrets_tests.rs"]
mod tests;

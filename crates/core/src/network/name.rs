//! Names of hosts, in the one form they are compared in, and patterns over them.

use std::cmp::Reverse;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::InvalidTarget;

const LONGEST_NAME: usize = 253;
const LONGEST_LABEL: usize = 63;

/// A name in lower case, without a trailing dot. Letters of other scripts have to come as `xn--…`, as they do on
/// the wire: two spellings of one name would be two answers.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct HostName(String);

impl HostName {
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is a name of this machine, whatever a resolver may say about it.
    #[must_use]
    pub fn is_local(&self) -> bool {
        self.0 == "localhost" || self.0.ends_with(".localhost")
    }
}

impl FromStr for HostName {
    type Err = InvalidTarget;

    fn from_str(text: &str) -> Result<Self, InvalidTarget> {
        let bare = text.strip_suffix('.').unwrap_or(text);
        let wrong = |why: &'static str| InvalidTarget::Name { name: shortened(text), why };
        if bare.is_empty() {
            return Err(wrong("it is empty"));
        }
        if !bare.is_ascii() {
            return Err(wrong("letters outside ASCII must be written in their 'xn--' form"));
        }
        if bare.len() > LONGEST_NAME {
            return Err(wrong("it is longer than 253 characters"));
        }
        if bare.contains('*') {
            return Err(wrong("'*' may stand only for the whole first part, as in '*.example.org'"));
        }
        for label in bare.split('.') {
            check_label(label).map_err(wrong)?;
        }
        if looks_like_number(bare.rsplit('.').next().unwrap_or(bare)) {
            return Err(wrong(
                "it ends in a number; an address must be four decimal numbers without leading zeros",
            ));
        }
        Ok(Self(bare.to_ascii_lowercase()))
    }
}

fn check_label(label: &str) -> Result<(), &'static str> {
    if label.is_empty() {
        return Err("a part between two dots is empty");
    }
    if label.len() > LONGEST_LABEL {
        return Err("a part between two dots is longer than 63 characters");
    }
    if label.starts_with('-') || label.ends_with('-') {
        return Err("a part begins or ends with '-'");
    }
    // Names with underscores exist, although none should be a host's.
    if !label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_') {
        return Err("it may hold only letters, digits, '-', '_' and dots; no scheme, path or blank");
    }
    Ok(())
}

/// What `inet_aton` takes for a number: `127.1`, `0x7f000001`, `2130706433`, `0177.0.0.1` are addresses to some
/// programs, so they are names to none.
fn looks_like_number(label: &str) -> bool {
    let hex = label.strip_prefix("0x").or_else(|| label.strip_prefix("0X"));
    match hex {
        Some(digits) => digits.bytes().all(|byte| byte.is_ascii_hexdigit()),
        None => label.bytes().all(|byte| byte.is_ascii_digit()),
    }
}

/// Enough of what was given to find it again.
pub(super) fn shortened(text: &str) -> String {
    text.chars().take(80).collect()
}

impl fmt::Display for HostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for HostName {
    type Error = InvalidTarget;
    fn try_from(text: String) -> Result<Self, InvalidTarget> {
        text.parse()
    }
}

impl From<HostName> for String {
    fn from(name: HostName) -> Self {
        name.0
    }
}

/// A name, or `*.name`: every name below it, at any depth, but not itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum HostPattern {
    Exact(HostName),
    Below(HostName),
}

impl HostPattern {
    #[must_use]
    pub fn matches(&self, name: &HostName) -> bool {
        match self {
            Self::Exact(own) => own == name,
            Self::Below(parent) => is_below(name, parent),
        }
    }

    /// Of two patterns that match one name, the smaller is of the one that matches less.
    pub(super) fn width(&self) -> impl Ord + use<> {
        match self {
            Self::Exact(_) => (false, Reverse(0)),
            Self::Below(parent) => (true, Reverse(parent.0.len())),
        }
    }

    /// Whether every name that `other` matches is matched by this one.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (_, Self::Exact(name)) => self.matches(name),
            (Self::Below(parent), Self::Below(name)) => parent == name || is_below(name, parent),
            (Self::Exact(_), Self::Below(_)) => false,
        }
    }
}

fn is_below(name: &HostName, parent: &HostName) -> bool {
    name.0.strip_suffix(&parent.0).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
}

impl FromStr for HostPattern {
    type Err = InvalidTarget;

    fn from_str(text: &str) -> Result<Self, InvalidTarget> {
        let Some(parent) = text.strip_prefix("*.") else {
            if text == "*" {
                return Err(InvalidTarget::Everything);
            }
            return text.parse().map(Self::Exact);
        };
        let parent: HostName = parent.parse()?;
        if !parent.as_str().contains('.') {
            return Err(InvalidTarget::WideWildcard(shortened(text)));
        }
        Ok(Self::Below(parent))
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(name) => write!(f, "{name}"),
            Self::Below(parent) => write!(f, "*.{parent}"),
        }
    }
}

#[cfg(test)]
#[path = "name_tests.rs"]
mod tests;

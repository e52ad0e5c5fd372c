//! The name of a snapshot: an alias and a tag, as in `my-snapshot:v2`.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::super::error::{E2bError, E2bResult};

/// The tag of what was given none.
pub(super) const DEFAULT_TAG: &str = "default";
const LONGEST: usize = 128;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Name {
    pub(super) alias: String,
    tag: String,
}

impl Name {
    /// Small letters, as E2B writes them.
    pub(super) fn parse(text: &str) -> E2bResult<Self> {
        let text = text.trim().to_ascii_lowercase();
        let (alias, tag) = text.split_once(':').unwrap_or((&text, DEFAULT_TAG));
        let is_plain = |part: &str| {
            let of_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
            !part.is_empty() && part.len() <= LONGEST && part.bytes().all(of_name)
        };
        if is_plain(alias) && is_plain(tag) {
            return Ok(Self { alias: alias.to_owned(), tag: tag.to_owned() });
        }
        Err(E2bError::bad_request(format!(
            "'name' must be 'name' or 'name:tag', each of 1 to {LONGEST} letters, digits, '-', '_' or '.'"
        )))
    }

    /// Whether this is meant by `text`, which need not have a tag.
    pub(super) fn answers_to(&self, text: &str) -> bool {
        Self::parse(text)
            .is_ok_and(|name| name.alias == self.alias && (!text.contains(':') || name.tag == self.tag))
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.alias, self.tag)
    }
}

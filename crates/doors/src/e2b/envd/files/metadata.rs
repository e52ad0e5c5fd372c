//! What a client says of a file beside its content: `X-Metadata-<key>`, kept as the attribute `e2b.<key>`.

use std::collections::BTreeMap;

use axum::http::HeaderMap;

use super::super::refusal::Refusal;

const PREFIX: &str = "x-metadata-";
/// With `user.e2b.` before it, what a file system takes as a name.
const LONGEST_KEY: usize = 200;
const LONGEST_VALUE: usize = 4 << 10;
const MOST: usize = 64;

/// Attributes of the file, under their full names.
pub(super) fn attributes(headers: &HeaderMap) -> Result<BTreeMap<String, String>, Refusal> {
    let mut attributes = BTreeMap::new();
    for (name, value) in headers {
        let Some(key) = name.as_str().strip_prefix(PREFIX) else { continue };
        if key.is_empty() || key.len() > LONGEST_KEY {
            let message = format!("a metadata key has 1 to {LONGEST_KEY} characters; '{key}' has not");
            return Err(Refusal::invalid(message));
        }
        let printable = value.to_str().ok().filter(|text| text.len() <= LONGEST_VALUE);
        let value = printable.ok_or_else(|| {
            let message =
                format!("the metadata '{key}' must be at most {LONGEST_VALUE} printable ASCII characters");
            Refusal::invalid(message)
        })?;
        attributes.insert(format!("e2b.{key}"), value.to_owned());
    }
    if attributes.len() > MOST {
        return Err(Refusal::invalid(format!("a file has at most {MOST} pieces of metadata")));
    }
    Ok(attributes)
}

#[cfg(test)]
#[path = "metadata_tests.rs"]
mod tests;

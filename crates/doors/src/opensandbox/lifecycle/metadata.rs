//! Metadata of sandboxes, with the rules of Kubernetes' labels; merged into, and looked for.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use serde_json::{Map, Value};

use super::super::error::{Answered, Refusal};
use super::body::Problems;
use crate::lent::{LARGEST_TEXTS, are_too_large, form};

const RESERVED: &str = "opensandbox.io/";
const LONGEST: usize = 63;
const LONGEST_PREFIX: usize = 253;

pub(super) fn check(metadata: &BTreeMap<String, String>) -> Answered<()> {
    if are_too_large(metadata) {
        return Err(wrong(format!("Metadata may have {LARGEST_TEXTS} bytes in all.")));
    }
    for (key, value) in metadata {
        check_key(key)?;
        if !value.is_empty() && !is_label(value) {
            return Err(wrong(format!(
                "Metadata value '{value}' of '{key}' is invalid: at most {LONGEST} letters, digits, '-', '_' or \
                 '.', with a letter or digit at both ends."
            )));
        }
    }
    Ok(())
}

fn check_key(key: &str) -> Answered<()> {
    if key.starts_with(RESERVED) {
        return Err(wrong(format!("Metadata key '{key}' uses the reserved prefix '{RESERVED}'.")));
    }
    let (prefix, name) = key.split_once('/').map_or((None, key), |(prefix, name)| (Some(prefix), name));
    if prefix.is_some_and(|prefix| !is_domain(prefix)) || !is_label(name) {
        return Err(wrong(format!(
            "Metadata key '{key}' is invalid: a name of at most {LONGEST} letters, digits, '-', '_' or '.', \
             perhaps behind a domain and a '/'."
        )));
    }
    Ok(())
}

fn wrong(message: String) -> Refusal {
    Refusal::new(StatusCode::BAD_REQUEST, "SANDBOX::INVALID_METADATA_LABEL", message)
}

fn is_label(text: &str) -> bool {
    let ends = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    text.len() <= LONGEST && ends(text.chars().next()) && ends(text.chars().last()) && text.chars().all(plain)
}

fn is_domain(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let label = |label: &str| {
        !label.is_empty() && label.chars().all(plain) && !label.starts_with('-') && !label.ends_with('-')
    };
    text.len() <= LONGEST_PREFIX && text.split('.').all(label)
}

/// What a merge patch makes of metadata: null removes.
pub(super) fn merged(
    before: &BTreeMap<String, String>,
    patch: &Map<String, Value>,
) -> Answered<BTreeMap<String, String>> {
    let (mut metadata, mut added) = (before.clone(), BTreeMap::new());
    let mut problems = Problems::default();
    for (key, value) in patch {
        match value {
            Value::Null if key.starts_with(RESERVED) => check_key(key)?,
            Value::Null => {
                metadata.remove(key);
            }
            Value::String(text) => {
                added.insert(key.clone(), text.clone());
            }
            other => problems.wrong("string", &[key], other),
        }
    }
    problems.done()?;
    check(&added)?;
    metadata.extend(added);
    Ok(metadata)
}

/// What is looked for: a form inside the query.
pub(super) fn wanted(text: &str) -> Answered<Vec<(String, String)>> {
    if text.split('&').any(|pair| !pair.contains('=') || pair.starts_with('=')) {
        let message = format!("Invalid metadata format: '{text}' is no list such as a=1&b=2");
        return Err(Refusal::new(StatusCode::BAD_REQUEST, "INVALID_METADATA_FORMAT", message));
    }
    Ok(form(text))
}

#[cfg(test)]
#[path = "metadata_tests.rs"]
mod tests;

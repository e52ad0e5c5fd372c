//! YAML into types, with a sentence for each mistake: its place, its key, and what may have been meant.

use std::path::Path;

use serde::de::{DeserializeOwned, IgnoredAny};
use serde_saphyr::Error;
use std::collections::BTreeMap;

use super::errors::ConfigError;

/// Less alike than this, and it was not meant.
const ALIKE: f64 = 0.66;

/// A text without any keys is as good as none.
pub(crate) fn read<T: DeserializeOwned + Default>(file: &Path, text: &str) -> Result<T, ConfigError> {
    let mut path = String::new();
    let parsed: Result<Option<T>, Error> = serde_saphyr::with_deserializer_from_str(text, |from| {
        serde_path_to_error::deserialize(from).map_err(|error| {
            path = error.path().to_string();
            error.into_inner()
        })
    });
    parsed.map(Option::unwrap_or_default).map_err(|error| placed(file, &error, &path))
}

/// Whether the file has this key at its top.
pub(crate) fn has_key(file: &Path, text: &str, key: &str) -> Result<bool, ConfigError> {
    let keys: BTreeMap<String, IgnoredAny> = read(file, text)?;
    Ok(keys.contains_key(key))
}

fn placed(file: &Path, error: &Error, path: &str) -> ConfigError {
    let (line, column) = error.location().map_or((1, 1), |at| (at.line().max(1), at.column().max(1)));
    ConfigError::At { file: file.to_owned(), line, column, message: sentence(error, path) }
}

fn sentence(error: &Error, path: &str) -> String {
    // The library's path of a whole text is a dot; of a key it did not expect, a question mark.
    let parent = path.trim_end_matches('?').trim_matches('.');
    match error.without_snippet() {
        Error::SerdeUnknownField { field, expected, .. } => {
            format!("{}: there is no such key{}", below(parent, field), meant(field, expected))
        }
        Error::SerdeUnknownVariant { variant, expected, .. } => {
            format!("{parent}: '{variant}' is not possible here, only {}", listed(expected))
        }
        Error::SerdeMissingField { field, .. } => format!("{}: this key is missing", below(parent, field)),
        Error::DuplicateMappingKey { key: Some(key), .. } => {
            format!("{}: this key is there twice", below(parent, key))
        }
        Error::Unexpected { expected, .. } => match wanted(expected) {
            Some(wanted) if parent.is_empty() => wanted.to_owned(),
            Some(wanted) => format!("{parent}: {wanted}"),
            None => format!("{parent}: {}", said(error)),
        },
        other if parent.is_empty() => said(other),
        other => format!("{parent}: {}", said(other)),
    }
}

/// In place of the parser's own words.
fn wanted(expected: &str) -> Option<&'static str> {
    match expected {
        "sequence start" => Some("a list is wanted, such as [a, b]"),
        "mapping start" => Some("a mapping is wanted, such as {key: value}"),
        "scalar" | "string scalar" => Some("a single value is wanted"),
        _ => None,
    }
}

/// The path of a key. The library's path sometimes ends with the key already.
fn below(parent: &str, key: &str) -> String {
    if parent.is_empty() || parent == key {
        key.to_owned()
    } else if parent.ends_with(&format!(".{key}")) {
        parent.to_owned()
    } else {
        format!("{parent}.{key}")
    }
}

/// The most alike of the keys there are, or all of them.
fn meant(field: &str, expected: &[&str]) -> String {
    let alike = |name: &&str| strsim::normalized_damerau_levenshtein(field, name);
    let best = expected.iter().copied().max_by(|a, b| alike(a).total_cmp(&alike(b)));
    match best {
        Some(name) if alike(&name) >= ALIKE => format!("; did you mean '{name}'?"),
        Some(_) => format!("; possible here: {}", expected.join(", ")),
        None => String::new(),
    }
}

fn listed(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
    quoted.join(", ")
}

/// The library's sentence without the place, which is said already.
fn said(error: &Error) -> String {
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    first.split(" at line ").next().unwrap_or(first).to_owned()
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;

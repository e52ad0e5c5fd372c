//! The model's name in the bytes of a request that is passed on: found without building the whole body,
//! and replaced without touching the rest.

use std::borrow::Cow;
use std::ops::Range;

use ::http::{HeaderMap, header};
use bytes::{Bytes, BytesMut};
use memchr::memmem;
use serde::Deserialize;
use serde_json::value::RawValue;

/// A name and where it stands.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) name: String,
    at: Range<usize>,
    is_json: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Peeked {
    Found(Found),
    Absent,
    /// Not to be read, or named twice: two readers could understand it differently.
    Unclear,
}

/// The model that a JSON body names, if it names one.
#[must_use]
pub fn model_in(body: &[u8]) -> Option<String> {
    match in_json(body) {
        Peeked::Found(found) => Some(found.name),
        Peeked::Absent | Peeked::Unclear => None,
    }
}

pub(super) fn peek(headers: &HeaderMap, body: &[u8]) -> Peeked {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let lower = kind.to_ascii_lowercase();
    if body.is_empty() {
        Peeked::Absent
    } else if lower.starts_with("multipart/form-data") {
        boundary(kind).map_or(Peeked::Unclear, |boundary| in_form(body, boundary))
    } else if lower.starts_with("application/json") || lower.is_empty() {
        in_json(body)
    } else {
        Peeked::Absent
    }
}

/// The body with another name in the place of the one found.
pub(super) fn replaced(body: &Bytes, found: &Found, name: &str) -> Bytes {
    let name: Cow<'_, str> =
        if found.is_json { serde_json::Value::from(name).to_string().into() } else { name.into() };
    let mut new = BytesMut::with_capacity(body.len() + name.len());
    new.extend_from_slice(&body[..found.at.start]);
    new.extend_from_slice(name.as_bytes());
    new.extend_from_slice(&body[found.at.end..]);
    new.freeze()
}

#[derive(Deserialize)]
struct Named<'a> {
    #[serde(borrow, default)]
    model: Option<&'a RawValue>,
}

fn in_json(body: &[u8]) -> Peeked {
    // A model that is named twice is an error of this reader, as it should be.
    let Ok(Named { model }) = serde_json::from_slice::<Named<'_>>(body) else { return Peeked::Unclear };
    let Some(raw) = model.map(RawValue::get).filter(|raw| *raw != "null") else { return Peeked::Absent };
    let Ok(name) = serde_json::from_str::<String>(raw) else { return Peeked::Unclear };
    let start = raw.as_ptr() as usize - body.as_ptr() as usize;
    Peeked::Found(Found { name, at: start..start + raw.len(), is_json: true })
}

fn boundary(kind: &str) -> Option<&str> {
    let at = kind.to_ascii_lowercase().find("boundary=")? + "boundary=".len();
    let rest = &kind[at..];
    let boundary = match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next(),
        None => rest.split(';').next().map(str::trim),
    };
    boundary.filter(|boundary| !boundary.is_empty())
}

/// The field `model` of a form: `--boundary`, headers, an empty line, the value.
fn in_form(body: &[u8], boundary: &str) -> Peeked {
    let mark = format!("--{boundary}");
    // Only at the beginning of a line: elsewhere it is part of a value.
    let begins_line = |at: &usize| *at == 0 || body[..*at].ends_with(b"\r\n");
    let starts: Vec<usize> = memmem::find_iter(body, mark.as_bytes()).filter(begins_line).collect();
    let mut found = None;
    for pair in starts.windows(2) {
        let [start, end] = pair else { continue };
        let start = start + mark.len();
        let part = &body[start..*end];
        let Some(head) = memmem::find(part, b"\r\n\r\n") else { continue };
        if !is_model_field(&part[..head]) {
            continue;
        }
        let at = start + head + 4..end.saturating_sub(2);
        let name = body.get(at.clone()).and_then(|name| std::str::from_utf8(name).ok());
        let Some(name) = name.filter(|_| found.is_none()) else { return Peeked::Unclear };
        found = Some(Found { name: name.to_owned(), at, is_json: false });
    }
    found.map_or(Peeked::Absent, Peeked::Found)
}

fn is_model_field(head: &[u8]) -> bool {
    String::from_utf8_lossy(head).lines().any(|line| {
        let Some((name, value)) = line.split_once(':') else { return false };
        name.trim().eq_ignore_ascii_case("content-disposition")
            && value.split(';').map(str::trim).any(|part| matches!(part, "name=\"model\"" | "name=model"))
    })
}

#[cfg(test)]
#[path = "model_name_tests.rs"]
mod tests;

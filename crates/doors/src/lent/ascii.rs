//! JSON in ASCII alone. E2B's JavaScript client decodes each piece of the network for itself, and a character of
//! several bytes that is cut between two pieces would be lost; OpenSandbox's Python client takes some of them for
//! the end of a line.

use std::io::{Result, Write};

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

#[derive(Clone, Copy, Debug)]
struct Ascii;

impl Formatter for Ascii {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> Result<()> {
        let mut rest = fragment;
        while let Some(start) = rest.find(|c: char| !c.is_ascii()) {
            let (plain, other) = rest.split_at(start);
            writer.write_all(plain.as_bytes())?;
            let end = other.find(|c: char| c.is_ascii()).unwrap_or(other.len());
            for unit in other[..end].encode_utf16() {
                write!(writer, "\\u{unit:04x}")?;
            }
            rest = &other[end..];
        }
        writer.write_all(rest.as_bytes())
    }
}

/// Adds one line to `lines`; nothing of it when it cannot be written, which no value made here is.
pub(crate) fn add_line(lines: &mut Vec<u8>, value: &impl Serialize) {
    let before = lines.len();
    let written = value.serialize(&mut Serializer::with_formatter(&mut *lines, Ascii));
    match written {
        Ok(()) => lines.push(b'\n'),
        Err(error) => {
            lines.truncate(before);
            tracing::error!(%error, "an item of an execution could not be written");
        }
    }
}

#[cfg(test)]
#[path = "ascii_tests.rs"]
mod tests;

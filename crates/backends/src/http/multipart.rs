//! A form with files in it, as `multipart/form-data` writes it: small parts whole, the last file as it is read.

use bytes::Bytes;
use http::HeaderValue;
use sandgate_core::random_hex;

use super::HttpError;

#[derive(Debug)]
pub(crate) struct Part<'a> {
    pub(crate) name: &'a str,
    pub(crate) filename: Option<&'a str>,
    pub(crate) kind: Option<&'a str>,
}

#[derive(Debug)]
pub(crate) struct Form {
    boundary: String,
    before: Vec<u8>,
}

impl Form {
    pub(crate) fn new() -> Self {
        // So long that no file holds it by chance.
        Self { boundary: random_hex(24), before: Vec::new() }
    }

    pub(crate) fn content_type(&self) -> Result<HeaderValue, HttpError> {
        HeaderValue::from_str(&format!("multipart/form-data; boundary={}", self.boundary))
            .map_err(|error| HttpError::Ours(error.to_string()))
    }

    pub(crate) fn add(&mut self, part: &Part<'_>, content: &[u8]) {
        self.open(part);
        self.before.extend_from_slice(content);
        self.before.extend_from_slice(b"\r\n");
    }

    /// What goes before the content of the last part, and what after it.
    pub(crate) fn around_last(mut self, part: &Part<'_>) -> (Bytes, Bytes) {
        self.open(part);
        let after = format!("\r\n--{}--\r\n", self.boundary);
        (self.before.into(), after.into())
    }

    fn open(&mut self, part: &Part<'_>) {
        let mut head =
            format!("--{}\r\nContent-Disposition: form-data; name=\"{}\"", self.boundary, quoted(part.name));
        if let Some(filename) = part.filename {
            head.push_str(&format!("; filename=\"{}\"", quoted(filename)));
        }
        if let Some(kind) = part.kind {
            head.push_str(&format!("\r\nContent-Type: {kind}"));
        }
        head.push_str("\r\n\r\n");
        self.before.extend_from_slice(head.as_bytes());
    }
}

/// As browsers write names: what would end the quotes or the line is percent-encoded.
fn quoted(text: &str) -> String {
    text.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}

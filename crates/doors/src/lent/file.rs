//! An open file as an answer, whole or in part.

use axum::body::Body;
use axum::http::header::{
    ACCEPT_RANGES, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use sandgate_core::{ByteRange, OpenFile};
use tokio::io::AsyncReadExt;
use tokio_util::io::ReaderStream;

use super::home::name_of;
use crate::disposition::disposition;
use crate::range::Wanted;

const PIECE: usize = 64 << 10;

/// The range has nothing in common with the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the range has nothing in common with the file, which has {size} bytes")]
pub(crate) struct NoSuchPart {
    pub(crate) size: u64,
}

impl NoSuchPart {
    /// What else such an answer says.
    pub(crate) fn mark(self, headers: &mut HeaderMap) {
        insert(headers, CONTENT_RANGE, format!("bytes */{}", self.size));
    }
}

/// `open`: read from where `wanted` begins. `how`: as a file to save (`attachment`), or as it comes (`inline`).
pub(crate) fn send(open: OpenFile, wanted: Wanted, how: &str) -> Result<Response, NoSuchPart> {
    // It may have changed since somebody looked at it.
    let size = open.entry.size;
    let (status, start, length) = match wanted.within(size) {
        Wanted::Whole => (StatusCode::OK, 0, size),
        Wanted::Part(ByteRange { start, length }) => {
            (StatusCode::PARTIAL_CONTENT, start, length.unwrap_or(size.saturating_sub(start)))
        }
        Wanted::Nothing => return Err(NoSuchPart { size }),
    };
    // The file may grow meanwhile; what was announced is what is sent.
    let pieces = ReaderStream::with_capacity(open.reader.take(length), PIECE);
    let body = if length == 0 { Body::empty() } else { Body::from_stream(pieces) };
    let mut response = (status, body).into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    headers.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    // Whoever opens this in a browser gets a file, not a page that runs here.
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox; default-src 'none'"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    insert(headers, CONTENT_DISPOSITION, disposition(how, name_of(&open.entry.path)));
    if status == StatusCode::PARTIAL_CONTENT {
        let range = format!("bytes {start}-{}/{size}", (start + length).saturating_sub(1));
        insert(headers, CONTENT_RANGE, range);
    }
    Ok(response)
}

fn insert(headers: &mut HeaderMap, name: HeaderName, value: String) {
    if let Ok(value) = HeaderValue::try_from(value) {
        headers.insert(name, value);
    }
}

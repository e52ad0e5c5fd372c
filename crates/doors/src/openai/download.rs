//! The content of a file as an answer: streamed, in parts where asked for, and never shown as a page.

use axum::body::Body;
use axum::http::header::{
    ACCEPT_RANGES, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use sandgate_core::ByteRange;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio_util::io::ReaderStream;

use super::error::ApiError;
use crate::disposition::disposition;
pub(super) use crate::range::Wanted;

const PIECE: usize = 64 << 10;

/// `reader` stands at the first byte that is wanted.
pub(super) fn answer(
    reader: impl AsyncRead + Send + Unpin + 'static,
    name: &str,
    size: u64,
    wanted: Wanted,
) -> Response {
    let (status, start, length) = match wanted {
        Wanted::Whole => (StatusCode::OK, 0, size),
        Wanted::Part(ByteRange { start, length }) => {
            (StatusCode::PARTIAL_CONTENT, start, length.unwrap_or(size.saturating_sub(start)))
        }
        Wanted::Nothing => return nothing(size),
    };
    // The file may grow meanwhile; what was announced is what is sent.
    let body = Body::from_stream(ReaderStream::with_capacity(reader.take(length), PIECE));
    let mut response = (status, body).into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    headers.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    // Whoever opens this in a browser gets a file, not a page that runs here.
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox; default-src 'none'"));
    if let Ok(value) = HeaderValue::from_str(&disposition("attachment", name)) {
        headers.insert(CONTENT_DISPOSITION, value);
    }
    if status == StatusCode::PARTIAL_CONTENT
        && let Some(last) = start.checked_add(length).and_then(|end| end.checked_sub(1))
        && let Ok(value) = HeaderValue::from_str(&format!("bytes {start}-{last}/{size}"))
    {
        headers.insert(CONTENT_RANGE, value);
    }
    response
}

fn nothing(size: u64) -> Response {
    let message = format!("The range has nothing in common with the file, which has {size} bytes.");
    let mut response = ApiError::new(StatusCode::RANGE_NOT_SATISFIABLE, message).into_response();
    if let Ok(value) = HeaderValue::from_str(&format!("bytes */{size}")) {
        response.headers_mut().insert(CONTENT_RANGE, value);
    }
    response
}

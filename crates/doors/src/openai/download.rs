//! The content of a file as an answer: streamed, in parts where asked for, and never shown as a page.

use axum::body::Body;
use axum::http::header::{
    ACCEPT_RANGES, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
    RANGE,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use sandgate_core::ByteRange;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio_util::io::ReaderStream;

use super::error::ApiError;

const PIECE: usize = 64 << 10;

/// Which bytes are wanted of a file of this size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    Whole,
    Part(ByteRange),
    /// None that there are.
    Nothing,
}

impl Wanted {
    /// Several ranges at once are not worth the trouble: then the whole file is the answer, as the
    /// standard allows.
    pub(super) fn read(headers: &HeaderMap, size: u64) -> Self {
        let range = headers.get(RANGE).and_then(|value| value.to_str().ok());
        let Some((first, last)) = range.and_then(|text| text.trim().strip_prefix("bytes=")?.split_once('-'))
        else {
            return Self::Whole;
        };
        match (first.trim().parse::<u64>(), last.trim().parse::<u64>()) {
            (Ok(first), Ok(last)) if first > last => Self::Whole,
            (Ok(first), _) if first >= size && is_number_or_nothing(last) => Self::Nothing,
            (Ok(first), Ok(last)) => {
                let end = last.min(size - 1);
                Self::Part(ByteRange { start: first, length: Some(end - first + 1) })
            }
            (Ok(first), Err(_)) if last.trim().is_empty() => {
                Self::Part(ByteRange { start: first, length: Some(size - first) })
            }
            // The last so many.
            (Err(_), Ok(count)) if first.trim().is_empty() => match count.min(size) {
                0 => Self::Nothing,
                count => Self::Part(ByteRange { start: size - count, length: Some(count) }),
            },
            _ => Self::Whole,
        }
    }

    /// The same of a file that has become shorter or longer meanwhile.
    pub(super) fn within(self, size: u64) -> Self {
        let Self::Part(ByteRange { start, length }) = self else { return self };
        match size.saturating_sub(start) {
            0 => Self::Nothing,
            left => {
                let length = length.map_or(left, |length| length.min(left));
                Self::Part(ByteRange { start, length: Some(length) })
            }
        }
    }

    pub(super) fn range(self) -> Option<ByteRange> {
        match self {
            Self::Part(range) => Some(range),
            Self::Whole | Self::Nothing => None,
        }
    }
}

fn is_number_or_nothing(text: &str) -> bool {
    text.trim().bytes().all(|byte| byte.is_ascii_digit())
}

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
    if let Ok(value) = HeaderValue::from_str(&disposition(name)) {
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

/// A plain name for old programs, the true one for the others (RFC 6266).
fn disposition(name: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || " ._-()".contains(letter);
    let plain: String = name.chars().map(|letter| if is_plain(letter) { letter } else { '_' }).collect();
    let encode = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    let encoded: String = name.bytes().map(encode).collect();
    format!("attachment; filename=\"{plain}\"; filename*=UTF-8''{encoded}")
}

#[cfg(test)]
#[path = "download_tests.rs"]
mod tests;

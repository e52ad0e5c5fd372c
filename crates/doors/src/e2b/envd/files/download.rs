//! `GET /files`: the content of a file, whole or in part.

use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{
    ACCEPT_RANGES, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use sandgate_core::{ByteRange, FileKind};
use tokio::io::AsyncReadExt;
use tokio_util::io::ReaderStream;

use super::super::guest::Guest;
use super::super::paths::{name_of, resolve};
use super::super::refusal::{Kind, Refusal};
use super::super::user;
use super::Asked;
use super::conditions::{Verdict, Version};
use crate::disposition::disposition;
use crate::range::Wanted;

const PIECE: usize = 64 << 10;

pub(super) async fn answer(request: Request) -> Result<Response, Refusal> {
    let asked = Asked::of(request.uri());
    user::check(asked.username.as_deref())?;
    let path = resolve(asked.path.as_deref().unwrap_or_default())?;
    let guest = Guest::of(&request).await?;
    let inside = guest.inside().await?;
    let entry = inside.stat(&path).await.map_err(|error| guest.explain(error.into()))?;
    match entry.kind {
        FileKind::File => {}
        FileKind::Directory => return Err(Refusal::invalid(format!("path '{path}' is a directory"))),
        FileKind::Symlink | FileKind::Other => {
            return Err(Refusal::invalid(format!("path '{path}' is not a regular file")));
        }
    }
    let (headers, version) = (request.headers(), Version::of(&entry));
    let nothing_but = |status: StatusCode| {
        let mut response = status.into_response();
        version.mark(response.headers_mut());
        response
    };
    match version.judge(headers) {
        Verdict::Send => {}
        Verdict::Unchanged => return Ok(nothing_but(StatusCode::NOT_MODIFIED)),
        Verdict::Changed => return Ok(nothing_but(StatusCode::PRECONDITION_FAILED)),
    }
    let wanted = if version.allows_part(headers) { Wanted::read(headers, entry.size) } else { Wanted::Whole };
    if wanted == Wanted::Nothing {
        return Ok(no_such_part(&guest.id, entry.size));
    }
    let open = inside.open(&path, wanted.range()).await.map_err(|error| guest.explain(error.into()))?;
    let size = open.entry.size;
    let (status, start, length) = match wanted.within(size) {
        Wanted::Whole => (StatusCode::OK, 0, size),
        Wanted::Part(ByteRange { start, length }) => {
            (StatusCode::PARTIAL_CONTENT, start, length.unwrap_or(size.saturating_sub(start)))
        }
        Wanted::Nothing => return Ok(no_such_part(&guest.id, size)),
    };
    // The file may grow meanwhile; what was announced is what is sent.
    let pieces = ReaderStream::with_capacity(open.reader.take(length), PIECE);
    let body = if length == 0 { Body::empty() } else { Body::from_stream(pieces) };
    let mut response = (status, body).into_response();
    let headers = response.headers_mut();
    Version::of(&open.entry).mark(headers);
    describe(headers, name_of(path.as_str()), length);
    if status == StatusCode::PARTIAL_CONTENT {
        let range = format!("bytes {start}-{}/{size}", (start + length).saturating_sub(1));
        insert(headers, CONTENT_RANGE, range);
    }
    Ok(response)
}

fn describe(headers: &mut HeaderMap, name: &str, length: u64) {
    headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    headers.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    // Whoever opens this in a browser gets a file, not a page that runs here.
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox; default-src 'none'"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    insert(headers, CONTENT_DISPOSITION, disposition("inline", name));
}

fn no_such_part(id: &str, size: u64) -> Response {
    let message = format!("the range has nothing in common with the file, which has {size} bytes");
    let mut response = Refusal::new(Kind::BadRange, message).over_http(id);
    insert(response.headers_mut(), CONTENT_RANGE, format!("bytes */{size}"));
    response
}

fn insert(headers: &mut HeaderMap, name: axum::http::HeaderName, value: String) {
    if let Ok(value) = HeaderValue::try_from(value) {
        headers.insert(name, value);
    }
}

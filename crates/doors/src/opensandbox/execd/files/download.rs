//! The content of a file: whole, some bytes of it, or some lines.

use std::io;

use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{CONTENT_TYPE, RANGE};
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;
use sandgate_core::FileKind;
use tokio::io::{AsyncBufReadExt, BufReader};

use super::super::guest::{Guest, asked_one};
use super::super::refusal::{Code, Refusal};
use crate::lent::{NoSuchPart, send};
use crate::range::Wanted;

pub(super) async fn download(guest: Guest, request: Request) -> Result<Response, Refusal> {
    let path = asked_one(request.uri(), "path").ok_or_else(|| Refusal::missing("path"))?;
    let path = guest.resolve(&path)?;
    let lines = lines_wanted(request.uri())?;
    if lines.is_some() && request.headers().contains_key(RANGE) {
        return Err(Refusal::invalid("lines and a range of bytes cannot be asked for at once"));
    }
    let inside = guest.inside().await?;
    let entry = inside.stat(&path).await?;
    match entry.kind {
        FileKind::File => {}
        FileKind::Directory => {
            return Err(Refusal::runtime(format!("error accessing file: {path} is a directory")));
        }
        FileKind::Symlink | FileKind::Other => {
            return Err(Refusal::runtime(format!("error accessing file: {path} is not a regular file")));
        }
    }
    if let Some((first, count)) = lines {
        return Ok(line_slice(inside.open(&path, None).await?.reader, first, count));
    }
    let wanted = Wanted::read(request.headers(), entry.size);
    if wanted == Wanted::Nothing {
        return Ok(no_such_part(NoSuchPart { size: entry.size }));
    }
    let open = inside.open(&path, wanted.range()).await?;
    Ok(send(open, wanted, "attachment").unwrap_or_else(no_such_part))
}

fn no_such_part(nothing: NoSuchPart) -> Response {
    let refusal = Refusal::new(StatusCode::RANGE_NOT_SATISFIABLE, Code::Unknown, nothing.to_string());
    let mut response = refusal.into_response();
    nothing.mark(response.headers_mut());
    response
}

/// The first, counted from one, and how many.
fn lines_wanted(uri: &Uri) -> Result<Option<(u64, u64)>, Refusal> {
    let number = |name: &str, text: &str| match text.parse::<u64>() {
        Ok(number @ 1..) => Ok(number),
        Ok(0) | Err(_) => Err(Refusal::invalid(format!("{name} must be a positive integer"))),
    };
    match (asked_one(uri, "offset"), asked_one(uri, "limit")) {
        (None, None) => Ok(None),
        (Some(first), Some(count)) => Ok(Some((number("offset", &first)?, number("limit", &count)?))),
        _ => Err(Refusal::invalid("both offset and limit must be provided together for line-based reading")),
    }
}

/// Read as it is sent: nothing is held, however long a line is.
fn line_slice(reader: Box<dyn tokio::io::AsyncRead + Send + Unpin>, first: u64, count: u64) -> Response {
    struct Slice {
        reader: BufReader<Box<dyn tokio::io::AsyncRead + Send + Unpin>>,
        skip: u64,
        left: u64,
    }
    let slice = Slice { reader: BufReader::with_capacity(64 << 10, reader), skip: first - 1, left: count };
    let pieces = stream::try_unfold(slice, async |mut slice| {
        while slice.left > 0 {
            let buffer = slice.reader.fill_buf().await?;
            if buffer.is_empty() {
                break;
            }
            let end = memchr::memchr(b'\n', buffer);
            let taken = end.map_or(buffer.len(), |end| end + 1);
            let piece = (slice.skip == 0).then(|| Bytes::copy_from_slice(&buffer[..taken]));
            slice.reader.consume(taken);
            if end.is_some() {
                match slice.skip {
                    0 => slice.left -= 1,
                    _ => slice.skip -= 1,
                }
            }
            if let Some(piece) = piece {
                return Ok::<_, io::Error>(Some((piece, slice)));
            }
        }
        Ok(None)
    });
    ([(CONTENT_TYPE, "text/plain")], Body::from_stream(pieces)).into_response()
}

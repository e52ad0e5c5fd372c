//! `GET /files`: the content of a file, whole or in part.

use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use sandgate_core::FileKind;

use super::super::guest::Guest;
use super::super::paths::resolve;
use super::super::refusal::{Kind, Refusal};
use super::super::user;
use super::Asked;
use super::conditions::{Verdict, Version};
use crate::lent::{NoSuchPart, send};
use crate::range::Wanted;

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
        return Ok(no_such_part(&guest.id, NoSuchPart { size: entry.size }));
    }
    let open = inside.open(&path, wanted.range()).await.map_err(|error| guest.explain(error.into()))?;
    let version = Version::of(&open.entry);
    let sent = send(open, wanted, "inline").map(|mut response| {
        version.mark(response.headers_mut());
        response
    });
    Ok(sent.unwrap_or_else(|nothing| no_such_part(&guest.id, nothing)))
}

fn no_such_part(id: &str, nothing: NoSuchPart) -> Response {
    let mut response = Refusal::new(Kind::BadRange, nothing.to_string()).over_http(id);
    nothing.mark(response.headers_mut());
    response
}

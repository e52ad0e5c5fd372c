//! Into a container and out of it, in streams; and away.

use std::io;

use axum::body::Body;
use axum::extract::Request;
use axum::http::HeaderValue;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE};
use axum::response::{IntoResponse, Json, Redirect, Response};
use futures_util::TryStreamExt;
use sandgate_core::{BackendError, SandboxPath};
use sandgate_doors::disposition;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;
use tokio_util::io::{ReaderStream, StreamReader};

use super::preview::{MOST_OF_A_PICTURE, head, picture_kind};
use super::{link_to, path_in};
use crate::fields::Asked;
use crate::headers::Hostile;
use crate::pages::containers::Which;
use crate::problem::Problem;
use crate::visitor::Visitor;

const PIECE: usize = 64 << 10;
/// What a container has room for ends an upload earlier.
const MOST_UPLOADED: u64 = 512 << 20;

/// A picture, if it really is one.
pub(super) async fn image(
    _visitor: Visitor,
    Which(container): Which,
    Asked(asked): Asked,
) -> Result<Response, Problem> {
    let files = container.files().await?;
    let content = head(&*files, &path_in(&asked)?, MOST_OF_A_PICTURE).await?;
    let kind = picture_kind(&content).ok_or(Problem::NotFound)?;
    let mut response = ([(CONTENT_TYPE, kind)], content).into_response();
    response.extensions_mut().insert(Hostile);
    Ok(response)
}

pub(super) async fn download(
    _visitor: Visitor,
    Which(container): Which,
    Asked(asked): Asked,
) -> Result<Response, Problem> {
    let path = path_in(&asked)?;
    let open = container.files().await?.open(&path, None).await?;
    // The file may grow meanwhile; what was announced is what is sent.
    let size = open.stat.size;
    let body = Body::from_stream(ReaderStream::with_capacity(open.reader.take(size), PIECE));
    let mut response = body.into_response();
    let name = path.split().map_or_else(String::new, |(_, name)| name.to_owned());
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    headers.insert(CONTENT_LENGTH, HeaderValue::from(size));
    if let Ok(value) = HeaderValue::try_from(disposition("attachment", &name)) {
        headers.insert(CONTENT_DISPOSITION, value);
    }
    response.extensions_mut().insert(Hostile);
    Ok(response)
}

/// The body is the file, its name is in the address.
pub(super) async fn upload(
    visitor: Visitor,
    Which(container): Which,
    Asked(asked): Asked,
    request: Request,
) -> Result<Json<Value>, Problem> {
    let name = asked.get("name").unwrap_or_default();
    if name.is_empty() || name == "." || name == ".." || name.contains('/') {
        return Err(Problem::Invalid("A file needs a name without a slash.".to_owned()));
    }
    // Known before anything is written over: what was there stays.
    let length = request.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    if length.is_some_and(|length: u64| length > MOST_UPLOADED) {
        return Err(BackendError::FileTooLarge { limit: MOST_UPLOADED }.into());
    }
    let path = SandboxPath::parse(&format!("{}/{name}", path_in(&asked)?))?;
    let body = request.into_body().into_data_stream().map_err(io::Error::other);
    let mut content = StreamReader::new(body).take(MOST_UPLOADED + 1);
    let files = container.files().await?;
    let written = files.write(&path, &mut content).await?;
    if written.size > MOST_UPLOADED {
        files.remove(&path).await?;
        return Err(BackendError::FileTooLarge { limit: MOST_UPLOADED }.into());
    }
    tracing::info!(container = %container.id(), by = visitor.name(), "a file was uploaded by hand");
    Ok(Json(json!({"path": written.path, "size": written.size})))
}

pub(super) async fn delete(
    visitor: Visitor,
    Which(container): Which,
    Asked(asked): Asked,
) -> Result<Redirect, Problem> {
    let path = path_in(&asked)?;
    container.files().await?.remove(&path).await?;
    tracing::info!(container = %container.id(), by = visitor.name(), "a file was deleted by hand");
    let above = path.split().map_or_else(|| "/".to_owned(), |(above, _)| above.to_string());
    Ok(Redirect::to(&link_to("", &container, &above)))
}

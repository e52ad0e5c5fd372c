//! `POST /files/compose`: one file out of several, which go away. It is written beside where it will be and takes
//! its place in one step, so a failure half-way leaves everything as it was.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::Arc;

use axum::extract::Request;
use axum::response::{IntoResponse, Json, Response};
use bytes::Bytes;
use futures_util::stream;
use futures_util::{StreamExt, TryStreamExt};
use sandgate_core::{BackendError, FileKind, Inside, SandboxPath, random_alphanumeric};
use serde::Deserialize;
use tokio_util::io::{ReaderStream, StreamReader};

use super::super::guest::Guest;
use super::super::paths::resolve;
use super::super::refusal::{Kind, Refusal};
use super::super::user;
use super::upload::described;

const LARGEST_BODY: usize = 4 << 20;
const PIECE: usize = 64 << 10;

#[derive(Debug, Deserialize)]
struct Wish {
    #[serde(default)]
    source_paths: Vec<String>,
    #[serde(default)]
    destination: String,
    username: Option<String>,
}

pub(super) async fn answer(request: Request) -> Result<Response, Refusal> {
    let guest = Guest::of(&request).await?;
    let wish = read(request).await?;
    user::check(wish.username.as_deref())?;
    if wish.source_paths.is_empty() {
        return Err(Refusal::invalid("source_paths must not be empty"));
    }
    if wish.destination.is_empty() {
        return Err(Refusal::invalid("destination is required"));
    }
    let destination = resolve(&wish.destination)?;
    let inside = guest.inside().await?;
    let mut sources = VecDeque::new();
    for written in &wish.source_paths {
        let source = resolve(written)?;
        if source == destination {
            let message = format!("source path \"{written}\" cannot be the same as destination");
            return Err(Refusal::invalid(message));
        }
        match inside.stat(&source).await {
            Ok(entry) if entry.kind == FileKind::File => sources.push_back(source),
            Ok(_) => return Err(Refusal::invalid(format!("source path is not a regular file: {written}"))),
            Err(BackendError::NoSuchFile(_)) => {
                return Err(Refusal::new(Kind::NotFound, format!("source file not found: {written}")));
            }
            Err(error) => return Err(guest.explain(error.into())),
        }
    }
    let beside = SandboxPath::parse(&format!("{destination}.compose.{}.tmp", random_alphanumeric(12)))?;
    let joined = join(&inside, sources.clone(), &beside, &destination).await;
    if let Err(error) = joined {
        // Half of it is nobody's; that it may not be there is fine.
        let _ = inside.remove(&beside).await;
        return Err(guest.explain(error.into()));
    }
    for source in &sources {
        match inside.remove(source).await {
            Ok(()) | Err(BackendError::NoSuchFile(_)) => {}
            Err(error) => return Err(guest.explain(error.into())),
        }
    }
    let entry = inside.stat(&destination).await?;
    Ok(Json(described(&entry)).into_response())
}

async fn join(
    inside: &Arc<dyn Inside>,
    sources: VecDeque<SandboxPath>,
    beside: &SandboxPath,
    destination: &SandboxPath,
) -> Result<(), BackendError> {
    // Opened one after the other: there may be many.
    let opened = Arc::clone(inside);
    let pieces = stream::iter(sources)
        .then(move |source| {
            let inside = Arc::clone(&opened);
            async move {
                let open = inside.open(&source, None).await.map_err(io::Error::other)?;
                Ok::<_, io::Error>(ReaderStream::with_capacity(open.reader, PIECE))
            }
        })
        .try_flatten()
        .boxed();
    inside.write(beside, &mut StreamReader::new(pieces), &BTreeMap::new()).await?;
    inside.rename(beside, destination).await.map(drop)
}

async fn read(request: Request) -> Result<Wish, Refusal> {
    let mut pieces = request.into_body().into_data_stream();
    let mut body = Vec::new();
    while let Some(piece) = pieces.next().await {
        let piece: Bytes = piece.map_err(|error| Refusal::unreadable(&error))?;
        if body.len() + piece.len() > LARGEST_BODY {
            return Err(Refusal::new(Kind::TooLarge, "the body is larger than a list of files can be"));
        }
        body.extend_from_slice(&piece);
    }
    serde_json::from_slice(&body).map_err(|error| Refusal::invalid(format!("invalid request body: {error}")))
}

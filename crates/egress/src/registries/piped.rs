//! Bodies of the front: counted, and kept on the way if they are what they should be.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::Response;
use http_body::{Body, Frame};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::fs::File;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::mpsc;

use super::store::{Hash, Hasher, Store};
use super::typed;
use crate::http::{Answer, BoxError};
use crate::meter::Ticket;

const PIECE: usize = 64 << 10;
/// A package that is larger is not one.
const LONGEST_FILE: u64 = 4 << 30;

/// What comes out of a task.
struct Piped {
    pieces: mpsc::Receiver<Result<Bytes, BoxError>>,
    ticket: Ticket,
}

impl Body for Piped {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        self.pieces.poll_recv(cx).map(|piece| {
            piece.map(|piece| {
                piece.map(|bytes| {
                    count(&self.ticket, bytes.len());
                    Frame::data(bytes)
                })
            })
        })
    }
}

fn count(ticket: &Ticket, bytes: usize) {
    ticket.counts.received.fetch_add(bytes as u64, Ordering::Relaxed);
    ticket.meter().take(bytes as u64, None);
}

fn answer(pieces: mpsc::Receiver<Result<Bytes, BoxError>>, ticket: Ticket) -> Answer {
    let mut answer = Response::new(Piped { pieces, ticket }.boxed());
    typed(&mut answer, "application/octet-stream");
    answer
}

/// A page that is there already.
pub(super) fn whole(content: Vec<u8>, kind: &'static str, ticket: Ticket) -> Answer {
    count(&ticket, content.len());
    let mut answer =
        Response::new(http_body_util::Full::from(content).map_err(|never| match never {}).boxed());
    typed(&mut answer, kind);
    answer
}

/// A file of the cache.
pub(super) async fn file(mut file: File, ticket: Ticket) -> Answer {
    let length = file.metadata().await.map(|about| about.len());
    let (sender, pieces) = mpsc::channel(4);
    tokio::spawn(async move {
        loop {
            let mut piece = Vec::with_capacity(PIECE);
            let read = file.read_buf(&mut piece).await;
            let last = matches!(read, Ok(0) | Err(_));
            if !matches!(read, Ok(0))
                && sender.send(read.map(|_| piece.into()).map_err(Into::into)).await.is_err()
            {
                return;
            }
            if last {
                return;
            }
        }
    });
    let mut answer = answer(pieces, ticket);
    if let Ok(length) = length {
        answer.headers_mut().insert(http::header::CONTENT_LENGTH, length.into());
    }
    answer
}

/// A file that is passed on while it is fetched. It is kept if it has its hash; if not, whoever reads it is cut off
/// before its end. It is fetched to its end even when nobody reads any more.
pub(super) fn through(store: Arc<Store>, hash: Hash, body: Incoming, ticket: Ticket) -> Answer {
    let (sender, pieces) = mpsc::channel(4);
    tokio::spawn(async move {
        if let Err(error) = fetch(&store, hash, body, &sender).await {
            tracing::warn!(%error, "a package could not be fetched");
            let _ = sender.send(Err(error)).await;
        }
    });
    answer(pieces, ticket)
}

async fn fetch(
    store: &Store,
    hash: Hash,
    mut body: Incoming,
    reader: &mpsc::Sender<Result<Bytes, BoxError>>,
) -> Result<(), BoxError> {
    let (mut file, path) = store.draft().await?;
    let fetched = copy(hash, &mut body, &mut file, reader).await;
    match fetched {
        Ok((size, held_back)) => {
            store.keep(&path, hash, size).await?;
            let _ = reader.send(Ok(held_back)).await;
            Ok(())
        }
        Err(error) => {
            tokio::fs::remove_file(&path).await?;
            Err(error)
        }
    }
}

/// The last piece is held back until the hash is known to be right.
async fn copy(
    hash: Hash,
    body: &mut Incoming,
    file: &mut File,
    reader: &mpsc::Sender<Result<Bytes, BoxError>>,
) -> Result<(u64, Bytes), BoxError> {
    let mut hasher = Hasher::like(hash);
    let mut size = 0;
    let mut held_back = Bytes::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame?.into_data() else { continue };
        size += data.len() as u64;
        if size > LONGEST_FILE {
            return Err("it is larger than any package".into());
        }
        hasher.update(&data);
        file.write_all(&data).await?;
        let before = std::mem::replace(&mut held_back, data);
        if !before.is_empty() {
            let _ = reader.send(Ok(before)).await;
        }
    }
    file.flush().await?;
    if hasher.finish() != hash {
        return Err("it is not what the registry's page says: its hash is another".into());
    }
    Ok((size, held_back))
}

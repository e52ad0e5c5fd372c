//! Bodies of the front: counted, paced, and kept on the way if they are what they should be.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::Response;
use http_body::{Body, Frame};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::fs::File;
use tokio::io::AsyncReadExt;
use tokio::sync::{OwnedSemaphorePermit, mpsc};

use super::hash::{Hash, Hasher};
use super::store::{Draft, Store};
use super::typed;
use super::unread::{Taken, Unread};
use crate::LivePolicy;
use crate::denied::{Denied, Why};
use crate::http::{Answer, BoxError};
use crate::live::Refusal;
use crate::meter::Ticket;
use crate::metered::Pace;
use crate::sandbox::SandboxEgress;

const PIECE: usize = 64 << 10;
/// A package that is larger is not one.
const LONGEST_FILE: u64 = 4 << 30;
/// Who takes nothing of a file for so long while it is fetched does not want it; and a registry that says nothing for so
/// long does not have it.
const PATIENCE: Duration = Duration::from_secs(60);

/// What an answer holds until it was taken: its place, and the account that it is on. Ends when packages may not be had
/// any more.
pub(super) struct Hold {
    ticket: Ticket,
    pace: Pace,
    closed: Pin<Box<dyn Future<Output = Denied> + Send + Sync>>,
    _place: Option<OwnedSemaphorePermit>,
}

impl Hold {
    /// Waits for a place.
    pub(super) async fn new(sandbox: &SandboxEgress, ticket: Ticket) -> Self {
        let place = Arc::clone(&sandbox.places.fetched).acquire_owned().await.ok();
        let pace = Pace::new(Arc::clone(ticket.meter()), sandbox.policy.now().limits);
        Self { ticket, pace, closed: Box::pin(closed(sandbox.policy.clone())), _place: place }
    }
}

async fn closed(policy: LivePolicy) -> Denied {
    let mut changes = policy.watch();
    while changes.borrow_and_update().has_registries() {
        // Not at its end: this holds the policy itself.
        if changes.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
    let registries = || "registries".to_owned();
    Denied { to: registries(), host: registries(), why: Why::Rules(Refusal::NotAllowed) }
}

/// What comes out of a task, or is there.
struct Piped {
    pieces: Pieces,
    hold: Hold,
}

enum Pieces {
    Coming(mpsc::Receiver<Result<Bytes, BoxError>>),
    There(Unread),
}

impl Pieces {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, BoxError>>> {
        match self {
            Self::Coming(pieces) => pieces.poll_recv(cx),
            Self::There(page) => Poll::Ready(page.next(PIECE)),
        }
    }
}

impl Body for Piped {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if let Pieces::There(page) = &self.pieces {
            page.touch();
        }
        if let Poll::Ready(denied) = self.hold.closed.as_mut().poll(cx) {
            self.hold.ticket.cut(&denied.clone().into());
            // Nothing more is asked of it.
            self.hold.closed = Box::pin(std::future::ready(denied.clone()));
            return Poll::Ready(Some(Err(denied.to_string().into())));
        }
        ready!(self.hold.pace.may_go_on(cx))?;
        let piece = ready!(self.pieces.poll(cx));
        Poll::Ready(piece.map(|piece| {
            piece.map(|bytes| {
                let count = bytes.len() as u64;
                self.hold.ticket.counts.received.fetch_add(count, Ordering::Relaxed);
                self.hold.pace.passed(count);
                Frame::data(bytes)
            })
        }))
    }
}

fn answer(pieces: Pieces, length: Option<u64>, kind: &'static str, hold: Hold) -> Answer {
    let mut answer = Response::new(Piped { pieces, hold }.boxed());
    typed(&mut answer, kind);
    if let Some(length) = length {
        answer.headers_mut().insert(http::header::CONTENT_LENGTH, length.into());
    }
    answer
}

const FILE: &str = "application/octet-stream";

/// A page that is there already, and where it has room.
pub(super) fn whole(content: Bytes, kind: &'static str, hold: Hold, room: Taken) -> Answer {
    let length = content.len() as u64;
    answer(Pieces::There(Unread::new(content, Some(room))), Some(length), kind, hold)
}

/// A file that is there to be fetched, for who asks only that. How long it is would be known once it was.
pub(super) fn unread(hold: Hold) -> Answer {
    answer(Pieces::There(Unread::new(Bytes::new(), None)), None, FILE, hold)
}

/// A file of the cache.
pub(super) async fn file(mut file: File, hold: Hold) -> Answer {
    let length = file.metadata().await.map(|about| about.len()).ok();
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
    answer(Pieces::Coming(pieces), length, FILE, hold)
}

/// A file that is passed on while it is fetched, and kept as `name`. If it should have a hash and has another, whoever
/// reads it is cut off before its end, and nothing is kept. It is fetched for as long as it is read.
pub(super) fn through(
    store: Arc<Store>,
    name: String,
    hash: Option<Hash>,
    body: Incoming,
    hold: Hold,
) -> Answer {
    let (sender, pieces) = mpsc::channel(4);
    tokio::spawn(async move {
        if let Err(error) = fetch(&store, &name, hash, body, &sender).await {
            // Who asked for it and has gone can do so all day.
            match sender.is_closed() {
                true => tracing::debug!(%error, "a package was not fetched to its end"),
                false => tracing::warn!(%error, "a package could not be fetched"),
            }
            let _ = sender.send_timeout(Err(error), PATIENCE).await;
        }
    });
    answer(Pieces::Coming(pieces), None, FILE, hold)
}

/// The last piece is held back until the hash is known to be right.
async fn fetch(
    store: &Arc<Store>,
    name: &str,
    hash: Option<Hash>,
    mut body: Incoming,
    reader: &mpsc::Sender<Result<Bytes, BoxError>>,
) -> Result<(), BoxError> {
    let mut kept = Kept::begin(store).await;
    let mut hasher = hash.map(Hasher::like);
    // Where nothing says what it should be, its length must say that it is whole.
    let is_kept = hash.is_some() || body.size_hint().exact().is_some();
    let mut size = 0;
    let mut held_back = Bytes::new();
    while let Some(frame) = next(&mut body, reader).await? {
        let Ok(data) = frame?.into_data() else { continue };
        size += data.len() as u64;
        if size > LONGEST_FILE {
            return Err("it is larger than any package".into());
        }
        if let Some(hasher) = &mut hasher {
            hasher.update(&data);
        }
        kept.write(&data).await;
        let before = std::mem::replace(&mut held_back, data);
        if !before.is_empty() && reader.send_timeout(Ok(before), PATIENCE).await.is_err() {
            return Err("nobody reads it any more".into());
        }
    }
    if hasher.map(Hasher::finish) != hash {
        return Err("it is not what the registry's page says: its hash is another".into());
    }
    if is_kept {
        kept.keep(name).await;
    }
    let _ = reader.send_timeout(Ok(held_back), PATIENCE).await;
    Ok(())
}

/// What comes next, for as long as somebody wants it.
async fn next(
    body: &mut Incoming,
    reader: &mpsc::Sender<Result<Bytes, BoxError>>,
) -> Result<Option<Result<Frame<Bytes>, hyper::Error>>, BoxError> {
    tokio::select! {
        biased;
        () = reader.closed() => Err("nobody reads it any more".into()),
        frame = tokio::time::timeout(PATIENCE, body.frame()) => {
            frame.map_err(|_| "the registry stopped in the middle of it".into())
        }
    }
}

/// What is kept of a file that is passed on. Whoever reads it gets it all the same where nothing can be kept.
struct Kept(Option<Draft>);

impl Kept {
    async fn begin(store: &Arc<Store>) -> Self {
        Self(store.draft().await.inspect_err(not_kept).ok())
    }

    async fn write(&mut self, bytes: &[u8]) {
        if let Some(draft) = &mut self.0
            && let Err(error) = draft.write(bytes).await
        {
            not_kept(&error);
            self.0 = None;
        }
    }

    async fn keep(self, name: &str) {
        if let Some(draft) = self.0
            && let Err(error) = draft.keep(name).await
        {
            not_kept(&error);
        }
    }
}

fn not_kept(error: &std::io::Error) {
    tracing::warn!(%error, "a package is passed on and not kept");
}

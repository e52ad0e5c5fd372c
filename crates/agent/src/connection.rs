//! One operation's connection to the server, in frames.

use std::io;
use std::os::fd::OwnedFd;

use bytes::BytesMut;
use sandgate_agent::protocol::{Failure, FailureKind, FromAgent, ToAgent};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

/// What the server says.
#[derive(Debug)]
pub(crate) struct Incoming {
    stream: OwnedReadHalf,
    buffer: BytesMut,
}

/// What it is told.
#[derive(Debug)]
pub(crate) struct Outgoing(OwnedWriteHalf);

pub(crate) fn stream(fd: OwnedFd) -> io::Result<UnixStream> {
    let stream = std::os::unix::net::UnixStream::from(fd);
    stream.set_nonblocking(true)?;
    UnixStream::from_std(stream)
}

pub(crate) fn open(fd: OwnedFd) -> io::Result<(Incoming, Outgoing)> {
    let (incoming, outgoing) = stream(fd)?.into_split();
    Ok((Incoming { stream: incoming, buffer: BytesMut::new() }, Outgoing(outgoing)))
}

impl Incoming {
    /// None: the server has hung up. Safe to cancel.
    pub(crate) async fn next(&mut self) -> Option<ToAgent> {
        loop {
            match ToAgent::decode(&mut self.buffer) {
                Ok(Some(said)) => return Some(said),
                Ok(None) => {}
                Err(_) => return None,
            }
            match self.stream.read_buf(&mut self.buffer).await {
                Ok(0) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }

    /// Waits for the server to hang up; what it says meanwhile means nothing.
    pub(crate) async fn closed(&mut self) {
        while self.next().await.is_some() {}
    }

    /// The whole connection again, for bytes instead of frames. What has come of those already is lost, so only
    /// before the server may send any.
    pub(crate) fn into_stream(self, outgoing: Outgoing) -> Option<UnixStream> {
        self.stream.reunite(outgoing.0).ok()
    }
}

impl Outgoing {
    /// Waits while the server does not read. An error: it has hung up.
    pub(crate) async fn say(&mut self, what: &FromAgent) -> io::Result<()> {
        self.0.write_all(&what.encode()).await
    }

    pub(crate) async fn fail(&mut self, kind: FailureKind, text: impl Into<String>) {
        let _ = self.say(&FromAgent::Failed(Failure { kind, text: text.into() })).await;
    }
}

/// An error of a file, in the words of the protocol.
pub(crate) fn failure(error: &io::Error) -> Failure {
    let kind = match error.raw_os_error() {
        Some(libc::ENOENT) => FailureKind::NotFound,
        Some(libc::EEXIST | libc::ENOTEMPTY) => FailureKind::Exists,
        Some(libc::EISDIR) => FailureKind::IsFolder,
        Some(libc::ENOTDIR) => FailureKind::NotAFolder,
        Some(libc::EACCES | libc::EPERM | libc::EROFS | libc::EBUSY) => FailureKind::Denied,
        Some(libc::ENOSPC | libc::EDQUOT | libc::EFBIG) => FailureKind::NoSpace,
        Some(libc::EMFILE | libc::ENFILE | libc::EAGAIN | libc::ENOMEM) => FailureKind::Busy,
        _ => FailureKind::Other,
    };
    Failure { kind, text: error.to_string() }
}

//! The first bytes of a connection: read to see what it speaks, and sent on as they came.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};

use crate::hello::{Hello, read_hello};

/// What a connection from inside turned out to speak.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Speaks {
    Tls(Option<String>),
    Http,
    Other,
}

/// Who begins to send but does not finish its first message is not waited for any longer.
const PATIENCE: Duration = Duration::from_secs(10);
const LONGEST: usize = 48 << 10;

/// A stream with bytes that were read from it already in front.
pub(crate) struct Replayed<S> {
    head: Vec<u8>,
    sent: usize,
    inner: S,
}

impl<S> Replayed<S> {
    pub(crate) fn new(head: Vec<u8>, inner: S) -> Self {
        Self { head, sent: 0, inner }
    }
}

impl<S: AsyncRead + Unpin> Replayed<S> {
    /// Whether nothing was read yet.
    pub(crate) fn is_untouched(&self) -> bool {
        self.head.is_empty()
    }

    /// Reads until it is clear what is spoken. Broken first messages are errors. Who says nothing is waited for as
    /// long as that lasts: whatever comes after a pause has to be looked at like what comes at once.
    pub(crate) async fn look(&mut self) -> io::Result<Speaks> {
        if self.head.is_empty() && self.inner.read_buf(&mut self.head).await? == 0 {
            return Ok(Speaks::Other);
        }
        let looking = async {
            loop {
                match read_hello(&self.head) {
                    Hello::Tls(name) => return Ok(Speaks::Tls(name)),
                    Hello::Broken => return Err(io::ErrorKind::InvalidData.into()),
                    Hello::Other => match looks_like_http(&self.head) {
                        Some(true) => return Ok(Speaks::Http),
                        Some(false) => return Ok(Speaks::Other),
                        None => {}
                    },
                    Hello::More => {}
                }
                if self.head.len() >= LONGEST {
                    return Err(io::ErrorKind::InvalidData.into());
                }
                if self.inner.read_buf(&mut self.head).await? == 0 {
                    return Ok(Speaks::Other);
                }
            }
        };
        match tokio::time::timeout(PATIENCE, looking).await {
            Ok(found) => found,
            Err(_) => Err(io::ErrorKind::TimedOut.into()),
        }
    }
}

/// Methods that servers know, some of them in small letters too.
const METHODS: [&[u8]; 9] =
    [b"GET", b"HEAD", b"POST", b"PUT", b"DELETE", b"CONNECT", b"OPTIONS", b"TRACE", b"PATCH"];
const LONGEST_METHOD: usize = 20;

/// Whether its first line is a request, as a server would read it that forgives much; None: too little to tell.
fn looks_like_http(head: &[u8]) -> Option<bool> {
    // Servers pass over empty lines before a request.
    let blank = head.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
    let head = &head[blank..];
    // The beginning of HTTP/2 by prior knowledge looks like a request and is none.
    if head.starts_with(b"PRI * HTTP/2") {
        return Some(false);
    }
    let method = head.iter().take_while(|byte| byte.is_ascii_alphabetic() || **byte == b'-').count();
    let (word, rest) = head.split_at(method);
    let is_loud = word.iter().all(|byte| byte.is_ascii_uppercase() || *byte == b'-');
    let Some(behind) = rest.first() else {
        let begins_one = METHODS
            .iter()
            .any(|known| known.get(..word.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(word)));
        return if begins_one || (is_loud && method <= LONGEST_METHOD) { None } else { Some(false) };
    };
    let is_known = METHODS.iter().any(|known| known.eq_ignore_ascii_case(word));
    let could_be = is_known || (is_loud && (3..=LONGEST_METHOD).contains(&method));
    if !could_be || !matches!(behind, b' ' | b'\t') {
        return Some(false);
    }
    let line = match rest.iter().position(|byte| *byte == b'\n') {
        Some(end) => &rest[..end],
        None => return None,
    };
    let has_version = line.windows(5).any(|part| part.eq_ignore_ascii_case(b"HTTP/"));
    // Other protocols have words and lines too. The oldest form of a request has no version.
    Some(has_version || (is_known && is_loud))
}

impl<S: AsyncRead + Unpin> AsyncRead for Replayed<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.sent < self.head.len() {
            let count = buffer.remaining().min(self.head.len() - self.sent);
            buffer.put_slice(&self.head[self.sent..self.sent + count]);
            self.sent += count;
            if self.sent == self.head.len() {
                self.head = Vec::new();
                self.sent = 0;
            }
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.inner).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Replayed<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, bytes)
    }
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

#[cfg(test)]
#[path = "first_tests.rs"]
mod tests;

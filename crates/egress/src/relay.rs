//! Bytes between a connection from inside and one to the outside, both ways at once, counted and paced. A connection
//! that is idle holds no memory here; one that is busy has its bytes moved by the kernel.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::BufMut;
use rustix::net::{Shutdown, shutdown, sockopt};
use sandgate_core::network::NetworkLimits;
use tokio::io::Interest;
use tokio::net::TcpStream;

use crate::meter::{Counts, Meter};
use crate::metered::{Pace, used_up};
use crate::pipes::{self, Borrowed, Filled, Pipes};
use crate::watch::Watch;

/// One piece that is copied.
const PIECE: usize = 64 << 10;
/// After so many bytes in one direction, a connection is one that moves many.
const BUSY: u64 = 256 << 10;

/// On whose account bytes pass.
pub(crate) struct Account {
    pub(crate) meter: Arc<Meter>,
    pub(crate) counts: Arc<Counts>,
    pub(crate) limits: NetworkLimits,
    pub(crate) pipes: Arc<Pipes>,
}

/// Until both sides have ended, or one of them breaks off: then the other is told so, and does not take what it has for
/// the whole. `head` was read from inside already.
pub(crate) async fn relay(
    inside: &TcpStream,
    outside: &TcpStream,
    head: &[u8],
    watch: Watch,
    account: &Account,
) -> io::Result<()> {
    let Account { meter, limits, pipes, .. } = account;
    let way = |count| Way { pace: Pace::new(Arc::clone(meter), *limits), count, passed: 0, pipes };
    let sending = async {
        let mut way = way(&account.counts.sent);
        way.begin(head, outside).await?;
        way.pass(inside, outside, watch).await
    };
    let mut receiving = way(&account.counts.received);
    let receiving = receiving.pass(outside, inside, Watch::No);
    tokio::pin!(sending, receiving);
    let (mut has_sent, mut has_received) = (false, false);
    while !(has_sent && has_received) {
        tokio::select! {
            // What has ended well has not been cut off.
            biased;
            ended = &mut sending, if !has_sent => has_sent = ended.map(|()| true)?,
            ended = &mut receiving, if !has_received => has_received = ended.map(|()| true)?,
            // Nobody reads any more from who has said all, and so nobody would hear that it is gone.
            error = broken(inside), if has_sent => return Err(error),
            error = broken(outside), if has_received => return Err(error),
            // Who is idle would else stay for as long as it likes.
            () = meter.used_up().cancelled(), if limits.bytes.is_some() => return Err(used_up()),
        }
    }
    Ok(())
}

/// When a connection is no more.
async fn broken(stream: &TcpStream) -> io::Error {
    match stream.ready(Interest::ERROR).await {
        Err(error) => error,
        Ok(_) => stream.take_error().ok().flatten().unwrap_or_else(|| io::ErrorKind::ConnectionReset.into()),
    }
}

/// So that it ends with an error and not as if it were whole.
pub(crate) fn break_off(stream: &TcpStream) {
    // Whoever has gone already need not be told.
    let _ = sockopt::set_socket_linger(stream, Some(Duration::ZERO));
}

/// One direction.
struct Way<'a> {
    pace: Pace,
    count: &'a AtomicU64,
    passed: u64,
    pipes: &'a Pipes,
}

impl<'a> Way<'a> {
    fn settle(&mut self, granted: usize, passed: usize) {
        let passed = passed as u64;
        self.passed += passed;
        self.count.fetch_add(passed, Ordering::Relaxed);
        self.pace.settle(granted as u64, passed);
    }

    async fn begin(&mut self, head: &[u8], to: &TcpStream) -> io::Result<()> {
        let mut rest = head;
        while !rest.is_empty() {
            let granted = self.pace.grant(rest.len()).await?;
            let (piece, after) = rest.split_at(granted.min(rest.len()));
            self.settle(granted, piece.len());
            write_all(to, piece).await?;
            rest = after;
        }
        Ok(())
    }

    /// To its end, which is passed on too.
    async fn pass(&mut self, from: &TcpStream, to: &TcpStream, mut watch: Watch) -> io::Result<()> {
        loop {
            from.readable().await?;
            // Not before there is something to be read: who waits long would hold an answer that is long untrue.
            let granted = self.pace.grant(pipes::SIZE).await?;
            let mut piece = self.take_piece(&watch);
            let filled = piece.fill(from, granted);
            self.settle(granted, *filled.as_ref().unwrap_or(&0));
            match filled {
                Ok(0) => break,
                Ok(_) => piece.give(to, &mut watch).await?,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        watch.end()?;
        // Who has closed both ways need not hear of one.
        let _ = shutdown(to, Shutdown::Write);
        Ok(())
    }

    fn take_piece(&self, watch: &Watch) -> Piece<'a> {
        let is_busy = self.passed >= BUSY && matches!(watch, Watch::No);
        let pipe = is_busy.then(|| self.pipes.borrow()).flatten();
        pipe.map_or_else(|| Piece::Copied(Vec::new()), Piece::Moved)
    }
}

/// What is on its way from one side to the other.
enum Piece<'a> {
    Copied(Vec<u8>),
    Moved(Borrowed<'a>),
}

impl Piece<'_> {
    fn fill(&mut self, from: &TcpStream, most: usize) -> io::Result<usize> {
        match self {
            Self::Copied(bytes) => {
                let most = most.min(PIECE);
                bytes.reserve_exact(most);
                from.try_read_buf(&mut bytes.limit(most))
            }
            Self::Moved(pipe) => match pipe.fill(from, most)? {
                Filled::Moved(took) => Ok(took),
                Filled::Copied(bytes) => {
                    let took = bytes.len();
                    *self = Self::Copied(bytes);
                    Ok(took)
                }
            },
        }
    }

    async fn give(mut self, to: &TcpStream, watch: &mut Watch) -> io::Result<()> {
        match &mut self {
            Self::Copied(bytes) => {
                watch.check(bytes)?;
                write_all(to, bytes).await
            }
            Self::Moved(pipe) => pipe.empty(to).await,
        }
    }
}

async fn write_all(to: &TcpStream, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        to.writable().await?;
        match to.try_write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(wrote) => bytes = &bytes[wrote..],
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "relay_tests.rs"]
mod tests;

//! Runs under way in one sandbox: read in tasks of their own, and found by their context when somebody wants
//! them to stop.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use sandgate_core::MimeBundle;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::{ProviderError, ProviderResult, RunEnd, Running, Said};

/// Pieces of output that wait for a reader.
const AHEAD: usize = 64;
/// Who started the run watches its time; this is for when it does not.
const GRACE: Duration = Duration::from_secs(30);

/// Of a line of output: what is longer than all of it may be is not even gathered.
pub(crate) fn longest_line(output_bytes: u64, most: u64) -> usize {
    const LEAST: u64 = 1 << 20;
    usize::try_from(output_bytes.clamp(LEAST, most)).unwrap_or(usize::MAX)
}

/// The answer of one run. Dropped before its end, it closes the connection.
#[async_trait]
pub(crate) trait Source: Send + 'static {
    /// What comes next; [`Said::Ended`] is the last of all. May be dropped while it waits, and loses nothing.
    async fn next(&mut self) -> ProviderResult<Vec<Said>>;
}

/// What it means that a run is to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stopping {
    /// Hanging up is how the provider is told.
    HangsUp,
    /// The provider was told otherwise, and the answer comes to its end.
    GoesOn,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct UnderWay(Arc<Mutex<Vec<Entry>>>);

#[derive(Debug)]
struct Entry {
    context: Option<String>,
    stop: CancellationToken,
}

impl UnderWay {
    /// Says to whatever runs in the context that it is to stop; false when nothing does.
    pub(crate) fn stop(&self, context: Option<&str>) -> bool {
        let entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut any = false;
        for entry in entries.iter().filter(|entry| entry.context.as_deref() == context) {
            entry.stop.cancel();
            any = true;
        }
        any
    }

    pub(crate) fn start(
        &self,
        context: Option<String>,
        source: impl Source,
        stopping: Stopping,
        time: Duration,
        output_bytes: u64,
    ) -> Running {
        let stop = CancellationToken::new();
        let (sender, said) = mpsc::channel(AHEAD);
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        entries.retain(|entry| !entry.stop.is_cancelled());
        entries.push(Entry { context, stop: stop.clone() });
        drop(entries);
        let reading = Reading { stop, stopping, sender, left: output_bytes, limit: output_bytes };
        tokio::spawn(async move {
            let stop = reading.stop.clone();
            let sender = reading.sender.clone();
            let time = time.saturating_add(GRACE);
            if reading.read(source, time).await.is_none() {
                let late = ProviderError::TimedOut { what: "the code has not ended".to_owned(), after: time };
                let _ = sender.send(Err(late)).await;
            }
            // It is over: not found any more by who wants to stop it.
            stop.cancel();
        });
        Running { said }
    }
}

struct Reading {
    stop: CancellationToken,
    stopping: Stopping,
    sender: mpsc::Sender<ProviderResult<Said>>,
    left: u64,
    limit: u64,
}

impl Reading {
    /// None: the source took longer than `left` in all. A reader who is slow takes his own time.
    async fn read(mut self, mut source: impl Source, mut left: Duration) -> Option<()> {
        loop {
            let began = Instant::now();
            let hang_up = async {
                match self.stopping {
                    Stopping::HangsUp => self.stop.cancelled().await,
                    Stopping::GoesOn => std::future::pending().await,
                }
            };
            let next = tokio::select! {
                biased;
                () = self.sender.closed() => return Some(()),
                () = hang_up => Ok(vec![Said::Ended(RunEnd::Interrupted)]),
                next = tokio::time::timeout(left, source.next()) => next.ok()?,
            };
            left = left.saturating_sub(began.elapsed());
            let pieces = match next {
                Ok(pieces) => pieces,
                Err(error) => {
                    let _ = self.sender.send(Err(error)).await;
                    return Some(());
                }
            };
            for piece in pieces {
                if !self.tell(piece).await {
                    return Some(());
                }
            }
        }
    }

    /// Whether more is to come.
    async fn tell(&mut self, piece: Said) -> bool {
        let size = size(&piece);
        if size > self.left {
            let what = "the output".to_owned();
            let _ = self.sender.send(Err(ProviderError::TooLarge { what, limit: self.limit })).await;
            return false;
        }
        self.left -= size;
        let piece = match piece {
            Said::Ended(RunEnd::Finished) if self.stop.is_cancelled() => Said::Ended(RunEnd::Interrupted),
            piece => piece,
        };
        let is_last = matches!(piece, Said::Ended(_));
        self.sender.send(Ok(piece)).await.is_ok() && !is_last
    }
}

fn size(piece: &Said) -> u64 {
    let bundle = |data: &MimeBundle| -> usize {
        data.values().map(|value| value.as_str().map_or_else(|| value.to_string().len(), str::len)).sum()
    };
    let bytes = match piece {
        Said::Stdout(text) | Said::Stderr(text) => text.len(),
        Said::Value(data) | Said::Shown(data) => bundle(data),
        Said::Raised(error) => {
            error.name.len() + error.value.len() + error.traceback.iter().map(String::len).sum::<usize>()
        }
        Said::Count(_) | Said::Ended(_) => 0,
    };
    bytes as u64
}

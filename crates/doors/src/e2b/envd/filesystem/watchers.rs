//! Watches that clients ask for news from time to time. Each keeps what happened meanwhile, up to a bound;
//! past it the watch says that news is lost rather than leave some out.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use prost::Message;
use sandgate_core::random_alphanumeric;
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;

use super::super::messages::filesystem::FilesystemEvent;
use super::super::refusal::{Kind, Refusal};
use super::changes::{Changes, NoMore, Told};

const MOST_OF_A_SANDBOX: usize = 256;
const MOST_KEPT: usize = 8192;
/// Bytes of what all watches of a sandbox keep together, and what an event takes besides its own.
const MOST_BYTES: usize = 1 << 20;
const EVENT_BYTES: usize = 128;
/// How long the end of a watch can be asked for.
const KEPT_AFTER_END: Duration = Duration::from_secs(600);
/// How long whoever asks waits for what is on its way; a sandbox that is busy may need it.
const LONGEST_WAIT: Duration = Duration::from_secs(2);

/// All watches, by the sandbox and their own id.
#[derive(Debug, Default)]
pub(crate) struct Watchers {
    all: Arc<Mutex<HashMap<(String, String), Watcher>>>,
}

#[derive(Debug)]
struct Watcher {
    news: Arc<Mutex<News>>,
    upstream: Upstream,
    _listening: AbortOnDropHandle<()>,
}

#[derive(Debug)]
struct News {
    events: Vec<FilesystemEvent>,
    /// Bytes of them.
    kept: usize,
    /// Those of all watches of the sandbox.
    of_sandbox: Arc<AtomicUsize>,
    ended: Option<(Instant, Refusal)>,
}

/// The way to hear of everything up to now: questions are numbered, and answered in their order.
#[derive(Clone, Debug)]
struct Upstream {
    questions: mpsc::Sender<()>,
    asked: Arc<AtomicU64>,
    answered: watch::Receiver<u64>,
}

impl Upstream {
    async fn up_to_now(mut self) {
        let answer = async {
            let number = self.asked.fetch_add(1, Ordering::Relaxed) + 1;
            if self.questions.send(()).await.is_ok() {
                let _ = self.answered.wait_for(|answered| *answered >= number).await;
            }
        };
        let _ = timeout(LONGEST_WAIT, answer).await;
    }
}

impl News {
    fn new(of_sandbox: Arc<AtomicUsize>) -> Self {
        Self { events: Vec::new(), kept: 0, of_sandbox, ended: None }
    }

    /// Whether there was room for it.
    fn keep(&mut self, event: FilesystemEvent) -> bool {
        let bytes = event.encoded_len() + EVENT_BYTES;
        let all = self.of_sandbox.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.kept += bytes;
        if all > MOST_BYTES || self.events.len() >= MOST_KEPT {
            return false;
        }
        self.events.push(event);
        true
    }

    fn take(&mut self) -> Vec<FilesystemEvent> {
        self.of_sandbox.fetch_sub(std::mem::take(&mut self.kept), Ordering::Relaxed);
        std::mem::take(&mut self.events)
    }
}

impl Drop for News {
    fn drop(&mut self) {
        self.take();
    }
}

impl Watchers {
    pub(super) fn add(&self, sandbox: &str, changes: Changes) -> Result<String, Refusal> {
        let mut all = lock(&self.all);
        all.retain(|_, watcher| !watcher.is_forgotten());
        if all.keys().filter(|(of, _)| of == sandbox).count() >= MOST_OF_A_SANDBOX {
            let message =
                format!("this sandbox has {MOST_OF_A_SANDBOX} watches, which is the limit; remove one first");
            return Err(Refusal::new(Kind::TooMany, message));
        }
        let id = format!("w{}", random_alphanumeric(20));
        let beside = all.iter().find(|((of, _), _)| of == sandbox);
        let of_sandbox = beside.map(|(_, watcher)| Arc::clone(&lock(&watcher.news).of_sandbox));
        let news = News::new(of_sandbox.unwrap_or_default());
        let (news, key) = (Arc::new(Mutex::new(news)), (sandbox.to_owned(), id.clone()));
        let (told, watchers, own) = (Arc::clone(&news), Arc::downgrade(&self.all), key.clone());
        let (answers, answered) = watch::channel(0);
        let upstream = Upstream { questions: changes.questions(), asked: Arc::default(), answered };
        let listening = tokio::spawn(async move {
            // Nobody will ask for the news of a sandbox that is gone.
            if listen(changes, told, answers).await == Ended::WithTheSandbox
                && let Some(all) = watchers.upgrade()
            {
                lock(&all).remove(&own);
            }
        });
        let watcher = Watcher { news, upstream, _listening: AbortOnDropHandle::new(listening) };
        all.insert(key, watcher);
        Ok(id)
    }

    /// What happened since it was last asked.
    pub(super) async fn take(&self, sandbox: &str, id: &str) -> Result<Vec<FilesystemEvent>, Refusal> {
        let (news, upstream) = {
            let all = lock(&self.all);
            let found = all.get(&(sandbox.to_owned(), id.to_owned())).ok_or_else(|| unknown(id))?;
            (Arc::clone(&found.news), found.upstream.clone())
        };
        // What somebody did before asking is among the answers.
        upstream.up_to_now().await;
        let mut news = lock(&news);
        match &news.ended {
            // What came before the end is told first.
            Some((_, refusal)) if news.events.is_empty() => Err(refusal.clone()),
            Some(_) | None => Ok(news.take()),
        }
    }

    pub(super) fn remove(&self, sandbox: &str, id: &str) -> Result<(), Refusal> {
        let removed = lock(&self.all).remove(&(sandbox.to_owned(), id.to_owned()));
        removed.map(drop).ok_or_else(|| unknown(id))
    }
}

impl Watcher {
    fn is_forgotten(&self) -> bool {
        lock(&self.news).ended.as_ref().is_some_and(|(at, _)| at.elapsed() > KEPT_AFTER_END)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    WithTheSandbox,
    Otherwise,
}

async fn listen(mut changes: Changes, news: Arc<Mutex<News>>, answers: watch::Sender<u64>) -> Ended {
    let refusal = loop {
        match changes.told().await {
            Ok(Told::UpToDate) => answers.send_modify(|answered| *answered += 1),
            Ok(Told::Event(event)) => {
                let mut news = lock(&news);
                if !news.keep(*event) {
                    // What is left of them would look like all there was.
                    news.take();
                    break Refusal::new(
                        Kind::Lost,
                        format!(
                            "more than {MOST_KEPT} changes, or {MOST_BYTES} bytes of them, were not asked for, and they are lost; watch again"
                        ),
                    );
                }
            }
            Err(NoMore::Removed) => break Refusal::new(Kind::NotFound, "the watched folder is gone"),
            Err(NoMore::Refused(refusal)) => break refusal,
            Err(NoMore::SandboxGone) => return Ended::WithTheSandbox,
        }
    };
    lock(&news).ended = Some((Instant::now(), refusal));
    Ended::Otherwise
}

fn unknown(id: &str) -> Refusal {
    let id: String = id.chars().take(100).collect();
    Refusal::new(Kind::NotFound, format!("watcher with id {id} not found"))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[path = "watchers_tests.rs"]
mod tests;

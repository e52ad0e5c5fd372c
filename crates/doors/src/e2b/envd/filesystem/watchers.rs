//! Watches that clients ask for news from time to time. Each keeps what happened meanwhile, up to a bound;
//! past it the watch says that news is lost rather than leave some out.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use sandgate_core::random_alphanumeric;
use tokio_util::task::AbortOnDropHandle;

use super::super::messages::filesystem::FilesystemEvent;
use super::super::refusal::{Kind, Refusal};
use super::changes::{Changes, NoMore};

const MOST_OF_A_SANDBOX: usize = 256;
const MOST_KEPT: usize = 8192;
/// How long the end of a watch can be asked for.
const KEPT_AFTER_END: Duration = Duration::from_secs(600);

/// All watches, by the sandbox and their own id.
#[derive(Debug, Default)]
pub(crate) struct Watchers {
    all: Mutex<HashMap<(String, String), Watcher>>,
}

#[derive(Debug)]
struct Watcher {
    news: Arc<Mutex<News>>,
    _listening: AbortOnDropHandle<()>,
}

#[derive(Debug, Default)]
struct News {
    events: Vec<FilesystemEvent>,
    ended: Option<(Instant, Refusal)>,
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
        let news = Arc::<Mutex<News>>::default();
        let listening = tokio::spawn(listen(changes, Arc::clone(&news)));
        let watcher = Watcher { news, _listening: AbortOnDropHandle::new(listening) };
        all.insert((sandbox.to_owned(), id.clone()), watcher);
        Ok(id)
    }

    /// What happened since it was last asked.
    pub(super) fn take(&self, sandbox: &str, id: &str) -> Result<Vec<FilesystemEvent>, Refusal> {
        let news = {
            let all = lock(&self.all);
            let found = all.get(&(sandbox.to_owned(), id.to_owned()));
            Arc::clone(&found.ok_or_else(|| unknown(id))?.news)
        };
        let mut news = lock(&news);
        match &news.ended {
            // What came before the end is told first.
            Some((_, refusal)) if news.events.is_empty() => Err(refusal.clone()),
            Some(_) | None => Ok(std::mem::take(&mut news.events)),
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

async fn listen(mut changes: Changes, news: Arc<Mutex<News>>) {
    let refusal = loop {
        match changes.next().await {
            Ok(event) => {
                let mut news = lock(&news);
                if news.events.len() >= MOST_KEPT {
                    break Refusal::new(
                        Kind::Lost,
                        format!(
                            "more than {MOST_KEPT} changes were not asked for, and some are lost; watch again"
                        ),
                    );
                }
                news.events.push(event);
            }
            Err(NoMore::Removed) => break Refusal::new(Kind::NotFound, "the watched folder is gone"),
            Err(NoMore::Refused(refusal)) => break refusal,
            Err(NoMore::SandboxGone) => break Refusal::gone(),
        }
    };
    lock(&news).ended = Some((Instant::now(), refusal));
}

fn unknown(id: &str) -> Refusal {
    let id: String = id.chars().take(100).collect();
    Refusal::new(Kind::NotFound, format!("watcher with id {id} not found"))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

//! Where a sandbox of ours is at the provider: where it was, or in a new one that is asked for, furnished and written
//! down.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use sandgate_core::{BackendError, Result};
use tokio::time::{Instant, sleep, timeout};

use super::sandbox::{At, Current, Inner};
use crate::{Place, ProviderResult};

/// So long after it was made, its end has not come noticeably nearer.
const SOON: Duration = Duration::from_secs(1);
/// For the provider to move an end.
const LONGEST_EXTEND: Duration = Duration::from_secs(30);

impl Inner {
    /// Where it is; made now if it is nowhere, with the files that were kept.
    pub(super) async fn at(self: &Arc<Self>) -> Result<At> {
        if let Some(at) = self.current().await {
            return Ok(at);
        }
        let inner = Arc::clone(self);
        // In a task of its own: who stops waiting must not leave one that is half filled and that nobody knows.
        let made = tokio::spawn(async move {
            let mut current = inner.current.lock().await;
            match current.at() {
                Some(at) => Ok(at),
                None => inner.make(&mut current).await,
            }
        });
        made.await.map_err(|_| BackendError::Engine("making a sandbox was abandoned".to_owned()))?
    }

    /// The first place of a new sandbox, for who is not stopped in the middle. Where the provider is quick it is
    /// furnished while its maker goes on; who uses it waits for that.
    pub(super) async fn make_first(self: &Arc<Self>) -> Result<()> {
        let mut current = Arc::clone(&self.current).lock_owned().await;
        if !self.is_likely_ready() {
            self.shared.records.make_room(&self.id).await?;
            return self.make(&mut current).await.map(drop);
        }
        let until = self.until();
        let asked = self.shared.ask(self.ask_for_new());
        let (place, room) = tokio::join!(asked, self.shared.records.make_room(&self.id));
        let at = self.next(&mut current, place?);
        if let Err(error) = room {
            self.give_up(at.place.as_ref()).await;
            return Err(error);
        }
        let (inner, id) = (Arc::clone(self), at.place.id().clone());
        tokio::spawn(async move {
            let furnished = tokio::select! {
                furnished = inner.furnish_quickly(&at, until) => furnished,
                // Nobody waits for what is not wanted any more.
                () = inner.ended.notified() => Err(BackendError::NoSuchSandbox(inner.id.clone())),
            };
            match furnished {
                Ok(()) => current.place = Some(at.place),
                Err(error) => {
                    // Nobody has used it yet, and who does gets another.
                    tracing::warn!(sandbox = %inner.id, %error, "a new remote sandbox could not be used");
                    inner.give_up(at.place.as_ref()).await;
                }
            }
        });
        // Should the gate die before: it carries our name, and the next run removes it.
        self.save_record(Some(id.as_str())).await
    }

    /// Written down at the end: who finds it again takes what is not there for what code has removed.
    async fn make(&self, current: &mut Current) -> Result<At> {
        if self.stopped.load(Ordering::Acquire) {
            return Err(BackendError::NoSuchSandbox(self.id.clone()));
        }
        let until = self.until();
        // One question: a sandbox that cannot be used is no success of its provider.
        let asked = async {
            let place = self.ask_for_new().await?;
            match self.furnish(place.as_ref(), until).await {
                Ok(()) => Ok(place),
                Err(error) => {
                    self.give_up(place.as_ref()).await;
                    Err(error)
                }
            }
        };
        let at = self.next(current, self.shared.ask(asked).await?);
        let filled = async {
            self.while_kept_alive(&at, self.fill(&at.place)).await?;
            self.save_record(Some(at.place.id().as_str())).await
        };
        if let Err(error) = filled.await {
            self.give_up(at.place.as_ref()).await;
            return Err(error);
        }
        current.place = Some(Arc::clone(&at.place));
        Ok(at)
    }

    /// Moves its end while it gets its files, which may take longer than it lives: nobody else does before it is
    /// there for all.
    pub(super) async fn while_kept_alive<T>(
        &self,
        at: &At,
        filled: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let began = Instant::now();
        let extending = async {
            loop {
                sleep(self.shared.life() / 3).await;
                self.extend(at).await;
            }
        };
        let filled = tokio::select! {
            filled = filled => filled?,
            () = extending => return Err(BackendError::Engine("filling a sandbox was abandoned".to_owned())),
        };
        // One that was quick has all its time before it.
        if began.elapsed() >= SOON {
            self.extend(at).await;
        }
        Ok(filled)
    }

    async fn extend(&self, at: &At) {
        let asked = timeout(LONGEST_EXTEND, self.shared.ask(at.place.extend(self.shared.life())));
        if let Ok(Err(error)) = asked.await {
            tracing::warn!(sandbox = %self.id, %error, "a sandbox that gets its files could not be kept alive");
        }
    }

    fn until(&self) -> Instant {
        Instant::now() + self.shared.provider.longest_create()
    }

    async fn ask_for_new(&self) -> ProviderResult<Arc<dyn Place>> {
        let wish = self.shared.wish(&self.id, &self.spec);
        self.shared.note(&self.id, |known| known.making = true);
        let made = self.shared.provider.create(&wish).await;
        self.shared.note(&self.id, |known| {
            known.place = made.as_ref().ok().map(|place| place.id().clone());
            known.making = false;
        });
        made
    }

    fn next(&self, current: &mut Current, place: Arc<dyn Place>) -> At {
        // Those of the sandbox before are gone with it.
        for context in self.lock_contexts().values() {
            context.take_interpreter();
        }
        self.strikes.store(0, Ordering::Release);
        current.generation += 1;
        At { place, generation: current.generation }
    }

    /// Not asked through the breaker: that it can be deleted does not make up for that it could not be used.
    async fn give_up(&self, place: &dyn Place) {
        if let Err(error) = self.shared.provider.delete(place.id()).await {
            tracing::warn!(sandbox = %self.id, %error, "a remote sandbox could not be deleted");
        }
        self.shared.note(&self.id, |known| known.place = None);
        self.record_end().await;
    }
}

#[cfg(test)]
#[path = "make_tests.rs"]
mod tests;

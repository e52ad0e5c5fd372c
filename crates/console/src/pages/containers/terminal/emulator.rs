//! The emulation of a terminal at work: on a thread where it holds up nobody, in short turns, and resting in between,
//! whatever programs print. Some sequences of a few bytes take as long as a page of text.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep_until};

use super::screen::Screen;

/// Bytes between two looks at the clock.
const SLICE: usize = 64;
/// Of work at a time.
const TURN: Duration = Duration::from_millis(10);
/// So many times as long as it worked it rests.
const REST: u32 = 3;
/// What it owes less than that is owed on.
const LEAST_REST: Duration = Duration::from_millis(5);

pub(super) struct Emulator {
    pub(super) screen: Screen,
    /// Of what a program printed, what is not on the screen yet.
    waiting: Bytes,
    owed: Duration,
    rests_until: Instant,
    /// All terminals of a server take turns.
    turns: Arc<Semaphore>,
}

impl Emulator {
    pub(super) fn new(screen: Screen, turns: Arc<Semaphore>) -> Self {
        let (owed, rests_until) = (Duration::ZERO, Instant::now());
        Self { screen, waiting: Bytes::new(), owed, rests_until, turns }
    }

    /// Whether there is something to do; until it is done, no more is to be given.
    pub(super) fn is_busy(&self) -> bool {
        !self.waiting.is_empty()
    }

    pub(super) fn take(&mut self, bytes: Bytes) {
        self.waiting = bytes;
    }

    /// Until the next turn may be.
    pub(super) async fn rested(&self) {
        sleep_until(self.rests_until).await;
    }

    /// One turn: as much of what waits as there is time for.
    pub(super) async fn go_on(&mut self) {
        let mut waiting = std::mem::take(&mut self.waiting);
        let rest = self.work(move |screen| {
            let began = Instant::now();
            while !waiting.is_empty() && began.elapsed() < TURN {
                screen.feed(&waiting.split_to(SLICE.min(waiting.len())));
            }
            waiting
        });
        self.waiting = rest.await.unwrap_or_default();
    }

    /// What the page does not know yet, in its own form.
    pub(super) async fn update(&mut self) -> Option<String> {
        let update =
            self.work(|screen| screen.update().and_then(|update| serde_json::to_string(&update).ok()));
        update.await.flatten()
    }

    /// None: what was printed broke the emulation, which begins anew.
    async fn work<T: Send + 'static>(
        &mut self,
        job: impl FnOnce(&mut Screen) -> T + Send + 'static,
    ) -> Option<T> {
        let _turn = self.turns.acquire().await.ok()?;
        let (columns, rows) = self.screen.size();
        // The smallest there is stands in for it meanwhile.
        let mut screen = std::mem::replace(&mut self.screen, Screen::new(0, 0));
        let began = Instant::now();
        let work = tokio::task::spawn_blocking(move || {
            let done = job(&mut screen);
            (screen, done)
        });
        let worked = work.await;
        self.owed += began.elapsed() * REST;
        if self.owed >= LEAST_REST {
            self.rests_until = Instant::now() + std::mem::take(&mut self.owed);
        }
        match worked {
            Ok((screen, done)) => {
                self.screen = screen;
                Some(done)
            }
            Err(error) => {
                tracing::warn!(%error, "the emulation of a terminal failed");
                self.screen = Screen::new(columns, rows);
                None
            }
        }
    }
}

#[cfg(test)]
#[path = "emulator_tests.rs"]
mod tests;

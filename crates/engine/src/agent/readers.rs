//! Those who read what a process says. One of them alone may be as slow as it likes and slows the process down;
//! beside others it is given some seconds, and then let go of: its channel closes without an end.

use std::time::Duration;

use sandgate_core::ProcessEvent;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

/// Events that wait for a slow reader.
pub(super) const EVENTS_AHEAD: usize = 16;
/// Readers of one process.
const MOST: usize = 64;
/// How long a slow reader may hold up the others.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Debug, Default)]
pub(super) struct Readers {
    all: Vec<mpsc::Sender<ProcessEvent>>,
    /// What is on its way, and to how many of them it has come.
    passing: Option<(ProcessEvent, usize)>,
    since: Option<Instant>,
}

impl Readers {
    /// One too many is let go of at once.
    pub(super) fn add(&mut self, reader: mpsc::Sender<ProcessEvent>) {
        self.forget_those_who_left();
        if self.all.len() >= MOST {
            return;
        }
        // Behind those who have what is on its way: it gets that too, which came before its time by a moment.
        self.all.push(reader);
    }

    fn forget_those_who_left(&mut self) {
        let had = self.passing.as_ref().map_or(0, |(_, at)| *at);
        let left_before = self.all.iter().take(had).filter(|reader| reader.is_closed()).count();
        if let Some((_, at)) = &mut self.passing {
            *at -= left_before;
        }
        self.all.retain(|reader| !reader.is_closed());
    }

    pub(super) fn begin(&mut self, event: ProcessEvent) {
        self.passing = Some((event, 0));
        self.since = None;
    }

    pub(super) fn is_passing(&self) -> bool {
        self.passing.is_some()
    }

    /// Waits until everybody has what is on its way. Safe to cancel, and to be called again.
    pub(super) async fn pass(&mut self) {
        while let Some((event, at)) = &mut self.passing {
            let Some(reader) = self.all.get(*at) else {
                self.passing = None;
                return;
            };
            let since = *self.since.get_or_insert_with(Instant::now);
            let alone = self.all.len() == 1;
            let let_go = tokio::select! {
                biased;
                place = reader.reserve() => match place {
                    Ok(place) => {
                        place.send(event.clone());
                        false
                    }
                    // It has left.
                    Err(_) => true,
                },
                () = sleep_until(since + PATIENCE), if !alone => true,
            };
            if let_go {
                self.all.swap_remove(*at);
            } else {
                *at += 1;
            }
            self.since = None;
        }
    }

    /// The last event, to whoever has room for it, and no more after it.
    pub(super) fn finish(&mut self, event: Option<&ProcessEvent>) {
        for reader in self.all.drain(..) {
            if let Some(event) = event {
                let _ = reader.try_send(event.clone());
            }
        }
        self.passing = None;
    }
}

#[cfg(test)]
#[path = "readers_tests.rs"]
mod tests;

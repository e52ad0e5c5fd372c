//! Code that waits for a person. It is held here and nowhere else: whoever asked holds on to an open request,
//! so what is still held when the server ends is over with that request, and nothing ran.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sandgate_core::now_seconds;
use serde::{Serialize, Serializer};
use tokio::sync::{oneshot, watch};

use super::facts::Facts;
use super::{DecidedBy, Decider};

/// Of how many that are over it is remembered how they ended.
const REMEMBERED: usize = 1000;
/// Of code, which is shown whole: a person who sees half of it decides about half of it.
const MOST_BYTES: usize = 32 << 20;
/// What one owner may have of the room, so that it cannot fill it for all others.
const SHARE: usize = 4;

/// All that wait. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Board(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    state: Mutex<State>,
    /// Counts every change, for those who wait for one.
    version: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct State {
    next: u64,
    /// By the order in which they came.
    held: BTreeMap<u64, Entry>,
    over: VecDeque<(String, HeldEnd)>,
}

#[derive(Debug)]
struct Entry {
    held: Held,
    answer: oneshot::Sender<PersonSaid>,
}

/// One that waits, as a person sees it.
#[derive(Clone, Debug, Serialize)]
pub struct Held {
    #[serde(flatten, serialize_with = "inside")]
    facts: Arc<Facts>,
    /// When it is denied if nobody has decided.
    pub expires_at: u64,
    /// Who passed it on to a person, and what was said with it.
    pub asked_by: DecidedBy,
    pub asked_reason: Option<String>,
}

fn inside<S: Serializer>(facts: &Arc<Facts>, to: S) -> Result<S::Ok, S::Error> {
    facts.serialize(to)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PersonSaid {
    pub(super) by: Decider,
    pub(super) approved: bool,
    pub(super) reason: Option<String>,
}

/// How one that no longer waits came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeldEnd {
    Approved,
    Denied,
    /// Nobody decided in time.
    TimedOut,
    /// Whoever asked has left.
    Withdrawn,
}

/// Why a decision cannot be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CannotDecide {
    #[error("nothing of this id waits for a decision")]
    NoSuch,
    #[error("the code was sent with the key of whoever decides, and takes somebody else")]
    Own,
    #[error("{}", match .0 {
        HeldEnd::Approved => "it was approved already",
        HeldEnd::Denied => "it was denied already",
        HeldEnd::TimedOut => "its time was over, and it was denied",
        HeldEnd::Withdrawn => "whoever asked has left, and nothing will run",
    })]
    Over(HeldEnd),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too many executions wait for a person already")]
pub(super) struct NoRoom;

impl Default for Board {
    fn default() -> Self {
        Self(Arc::new(Inner { state: Mutex::default(), version: watch::Sender::new(0) }))
    }
}

impl Held {
    #[must_use]
    pub fn id(&self) -> &str {
        &self.facts.id
    }

    /// Whether the code came with this one's own key. The master key may decide about its own: whoever holds it
    /// makes the rules.
    #[must_use]
    pub fn is_of(&self, decider: &Decider) -> bool {
        match decider {
            Decider::Master => false,
            Decider::Key(id) => self.facts.key.id.as_ref() == Some(id),
        }
    }

    /// What is known of it.
    #[must_use]
    pub fn facts(&self) -> &Facts {
        &self.facts
    }
}

impl Board {
    /// Holds it until somebody decides. None: nobody did in time. Dropping the future takes it away.
    pub(super) async fn ask(
        &self,
        facts: Arc<Facts>,
        by: DecidedBy,
        reason: Option<String>,
        most: usize,
        time: Duration,
    ) -> Result<Option<PersonSaid>, NoRoom> {
        let expires_at = now_seconds().saturating_add(time.as_secs());
        let held = Held { facts, expires_at, asked_by: by, asked_reason: reason };
        let (mut place, mut answer) = self.hold(held, most)?;
        if let Ok(Ok(said)) = tokio::time::timeout(time, &mut answer).await {
            return Ok(Some(said));
        }
        place.ended = HeldEnd::TimedOut;
        // From here on nobody can decide; whoever did at the last moment was told that it counts.
        answer.close();
        Ok(answer.try_recv().ok())
    }

    fn hold(&self, held: Held, most: usize) -> Result<(Place, oneshot::Receiver<PersonSaid>), NoRoom> {
        let mut state = self.lock();
        let (owner, size) = (&held.facts.key.owner, held.facts.code.len());
        let (mut bytes, mut count_of_owner, mut bytes_of_owner) = (size, 0, size);
        for facts in state.held.values().map(|entry| &entry.held.facts) {
            bytes += facts.code.len();
            if facts.key.owner == *owner {
                count_of_owner += 1;
                bytes_of_owner += facts.code.len();
            }
        }
        let is_full = state.held.len() >= most || bytes > MOST_BYTES;
        if is_full || count_of_owner >= most.div_ceil(SHARE) || bytes_of_owner > MOST_BYTES / SHARE {
            return Err(NoRoom);
        }
        let (answer, receiver) = oneshot::channel();
        let number = state.next;
        state.next += 1;
        state.held.insert(number, Entry { held, answer });
        drop(state);
        self.changed();
        Ok((Place { board: self.clone(), number, ended: HeldEnd::Withdrawn }, receiver))
    }

    pub(super) fn count(&self) -> usize {
        self.lock().held.len()
    }

    /// All that wait, oldest first, and the number of the change that brought this about.
    pub(super) fn list(&self) -> (Vec<Held>, u64) {
        // The number first: with one that is too low the next wait is too short, and nothing is missed.
        let version = *self.0.version.borrow();
        (self.lock().held.values().map(|entry| entry.held.clone()).collect(), version)
    }

    pub(super) fn get(&self, id: &str) -> Option<Held> {
        self.lock().held.values().find(|entry| entry.held.id() == id).map(|entry| entry.held.clone())
    }

    /// Returns once there is a change after `version`; None: once anything waits.
    pub(super) async fn change_after(&self, version: Option<u64>) {
        let mut changes = self.0.version.subscribe();
        loop {
            let now = *changes.borrow_and_update();
            let is_due = version.map_or_else(|| !self.lock().held.is_empty(), |version| version != now);
            // The sender lives as long as this board does: there is always a next change to wait for.
            if is_due || changes.changed().await.is_err() {
                return;
            }
        }
    }

    pub(super) fn decide(&self, id: &str, said: PersonSaid) -> Result<Held, CannotDecide> {
        let mut state = self.lock();
        let found = state.held.iter().find(|(_, entry)| entry.held.id() == id);
        if found.is_some_and(|(_, entry)| entry.held.is_of(&said.by)) {
            return Err(CannotDecide::Own);
        }
        let number = found.map(|(number, _)| *number);
        let Some(entry) = number.and_then(|number| state.held.remove(&number)) else {
            let ended = state.over.iter().find(|(over, _)| over == id);
            return Err(ended.map_or(CannotDecide::NoSuch, |(_, ended)| CannotDecide::Over(*ended)));
        };
        let ended = if said.approved { HeldEnd::Approved } else { HeldEnd::Denied };
        // Whoever asked may have left, or its time may be over, this very moment.
        let outcome = match entry.answer.send(said) {
            Ok(()) => ended,
            Err(_) if entry.held.expires_at <= now_seconds() => HeldEnd::TimedOut,
            Err(_) => HeldEnd::Withdrawn,
        };
        state.remember(id, outcome);
        drop(state);
        self.changed();
        if outcome == ended { Ok(entry.held) } else { Err(CannotDecide::Over(outcome)) }
    }

    fn changed(&self) {
        self.0.version.send_modify(|version| *version += 1);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn remember(&mut self, id: &str, ended: HeldEnd) {
        if self.over.len() >= REMEMBERED {
            self.over.pop_front();
        }
        self.over.push_back((id.to_owned(), ended));
    }
}

/// Takes its question off the board, unless somebody has decided it.
#[derive(Debug)]
struct Place {
    board: Board,
    number: u64,
    ended: HeldEnd,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut state = self.board.lock();
        if let Some(entry) = state.held.remove(&self.number) {
            state.remember(entry.held.id(), self.ended);
            drop(state);
            self.board.changed();
        }
    }
}

#[cfg(test)]
#[path = "held_tests.rs"]
mod tests;

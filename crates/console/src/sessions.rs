//! Who is signed in. The browser has a random token, the server only its digest; a session ends when it
//! idles, when it is old, when its person signs out, or when the key it began with may not any more.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use sandgate_core::{Rank, random_hex};
use sha2::{Digest, Sha256};

/// Without anything that a person did; pages that refresh themselves do not count.
const IDLE: Duration = Duration::from_secs(60 * 60);
const LONGEST: Duration = Duration::from_secs(12 * 60 * 60);
/// Past that, the one that idled longest ends.
const MOST: usize = 1000;
/// Of a token: 256 bits.
const BYTES: usize = 32;

type Hash = [u8; 32];

#[derive(Default)]
pub(crate) struct Sessions(Mutex<HashMap<Hash, Kept>>);

struct Kept {
    session: Session,
    began: Instant,
    used: Instant,
}

/// What a session is about.
#[derive(Clone)]
pub(crate) struct Session {
    pub(crate) rank: Rank,
    /// In every form, and in every request that changes something.
    pub(crate) csrf: String,
}

impl Sessions {
    /// The token that the browser is to keep.
    pub(crate) fn begin(&self, rank: Rank) -> (String, Session) {
        self.begin_at(Instant::now(), rank)
    }

    fn begin_at(&self, now: Instant, rank: Rank) -> (String, Session) {
        let token = random_hex(BYTES);
        let session = Session { rank, csrf: random_hex(BYTES) };
        let mut all = self.lock();
        all.retain(|_, kept| kept.is_alive(now));
        if all.len() >= MOST
            && let Some(oldest) = all.iter().min_by_key(|(_, kept)| kept.used).map(|(hash, _)| *hash)
        {
            all.remove(&oldest);
        }
        all.insert(digest(&token), Kept { session: session.clone(), began: now, used: now });
        (token, session)
    }

    /// `is_person`: it is a person who asks, and not a page that refreshes itself.
    pub(crate) fn find(&self, token: &str, is_person: bool) -> Option<Session> {
        self.find_at(Instant::now(), token, is_person)
    }

    fn find_at(&self, now: Instant, token: &str, is_person: bool) -> Option<Session> {
        let hash = digest(token);
        let mut all = self.lock();
        let kept = all.get_mut(&hash)?;
        if !kept.is_alive(now) {
            all.remove(&hash);
            return None;
        }
        if is_person {
            kept.used = now;
        }
        Some(kept.session.clone())
    }

    pub(crate) fn end(&self, token: &str) {
        self.lock().remove(&digest(token));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Hash, Kept>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn is_alive(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.used) < IDLE && now.saturating_duration_since(self.began) < LONGEST
    }
}

/// Found by its digest, a token cannot be guessed bit by bit from how long the search takes.
fn digest(token: &str) -> Hash {
    Sha256::digest(token.as_bytes()).into()
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("rank", &self.rank).finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "sessions_tests.rs"]
mod tests;

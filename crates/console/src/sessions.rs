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

/// The digest of a token. Found by it, a token cannot be guessed bit by bit from how long the search takes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct SessionKey([u8; 32]);

#[derive(Default)]
pub(crate) struct Sessions(Mutex<HashMap<SessionKey, Kept>>);

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
    /// With the token that the browser is to keep.
    pub(crate) fn begin(&self, rank: Rank) -> (String, Session) {
        self.begin_at(Instant::now(), rank)
    }

    fn begin_at(&self, now: Instant, rank: Rank) -> (String, Session) {
        let token = random_hex(BYTES);
        let session = Session { rank, csrf: random_hex(BYTES) };
        let mut all = self.lock();
        all.retain(|_, kept| kept.is_alive(now));
        if all.len() >= MOST
            && let Some(oldest) = all.iter().min_by_key(|(_, kept)| kept.used).map(|(key, _)| *key)
        {
            all.remove(&oldest);
        }
        all.insert(SessionKey::of(&token), Kept { session: session.clone(), began: now, used: now });
        (token, session)
    }

    /// `is_person`: it is a person who asks, and not a page that refreshes itself.
    pub(crate) fn find(&self, key: &SessionKey, is_person: bool) -> Option<Session> {
        self.find_at(Instant::now(), key, is_person)
    }

    fn find_at(&self, now: Instant, key: &SessionKey, is_person: bool) -> Option<Session> {
        let mut all = self.lock();
        let kept = all.get_mut(key)?;
        if !kept.is_alive(now) {
            all.remove(key);
            return None;
        }
        if is_person {
            kept.used = now;
        }
        Some(kept.session.clone())
    }

    pub(crate) fn end(&self, key: &SessionKey) {
        self.lock().remove(key);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionKey, Kept>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn is_alive(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.used) < IDLE && now.saturating_duration_since(self.began) < LONGEST
    }
}

impl SessionKey {
    pub(crate) fn of(token: &str) -> Self {
        Self(Sha256::digest(token.as_bytes()).into())
    }
}

impl fmt::Debug for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionKey")
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("rank", &self.rank).finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "sessions_tests.rs"]
mod tests;

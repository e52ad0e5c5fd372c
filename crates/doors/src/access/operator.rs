//! Who may operate the server by hand, with a session instead of a key in every request: what a session
//! begins with, and whether it still may go on.

use std::sync::Arc;

use sandgate_core::{Owner, Principal, Rank};
use sandgate_store::{KeyFound, KeyRecord, StoreError, if_there};
use subtle::ConstantTimeEq;

use super::{Access, NotLetIn, hash_key};

impl Access {
    /// Whoever has this secret, if it is the master key or a key that may sign in to the console.
    pub async fn operator(&self, secret: &str) -> Result<Option<Principal>, StoreError> {
        let hash = hash_key(secret);
        if self.0.master.is_some_and(|master| bool::from(master.ct_eq(&hash))) {
            return Ok(Some(Principal::master()));
        }
        match self.0.store.find_key(hash).await? {
            KeyFound::Known(key) if bool::from(key.hash.ct_eq(&hash)) => Ok(operating(*key)),
            KeyFound::Known(_) | KeyFound::Unknown | KeyFound::NoKeys => Ok(None),
        }
    }

    /// The same person as they are now: a key may have been revoked or changed since. None: they may not
    /// any more.
    pub async fn still_operator(&self, rank: &Rank) -> Result<Option<Principal>, StoreError> {
        match rank {
            Rank::Master => Ok(self.0.master.map(|_| Principal::master())),
            Rank::Key(id) => Ok(if_there(self.0.store.key(id).await)?.and_then(operating)),
            Rank::Open => Ok(self.is_open().await?.then(|| Principal::open(Owner::anonymous()))),
            Rank::Nobody => Ok(None),
        }
    }

    /// There are no keys: whoever reaches the server from this machine may do everything.
    pub async fn is_open(&self) -> Result<bool, StoreError> {
        match self.0.is_closed().await {
            Ok(is_closed) => Ok(!is_closed),
            Err(NotLetIn::Store(error)) => Err(error),
            // Whether there are keys is a question of the store alone.
            Err(_) => Ok(false),
        }
    }
}

fn operating(key: KeyRecord) -> Option<Principal> {
    let may = key.limits.console && key.revoked_at.is_none() && !key.is_expired();
    may.then(|| Principal { owner: key.owner, rank: Rank::Key(key.id), limits: Arc::new(key.limits) })
}

#[cfg(test)]
#[path = "operator_tests.rs"]
mod tests;

//! Who asks, as far as the server knows: the owner, the key it came with, and what that key may do.

use std::sync::Arc;

use crate::{KeyLimits, Owner};

#[derive(Clone, Debug)]
pub struct Principal {
    pub owner: Owner,
    pub rank: Rank,
    pub limits: Arc<KeyLimits>,
}

/// What a request came with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rank {
    /// The server has no keys: whoever reaches it is let in, and whatever was sent as a key is only a name.
    Open,
    /// Nothing, at a server with keys, where nothing is needed.
    Nobody,
    /// A key of this id.
    Key(String),
    /// The key that makes keys.
    Master,
}

impl Principal {
    /// Somebody at a server without keys.
    #[must_use]
    pub fn open(owner: Owner) -> Self {
        Self { owner, rank: Rank::Open, limits: Arc::default() }
    }

    /// Its things are its own, and stay so when the master key is exchanged.
    #[must_use]
    pub fn master() -> Self {
        Self { owner: Owner::master(), rank: Rank::Master, limits: Arc::default() }
    }
}

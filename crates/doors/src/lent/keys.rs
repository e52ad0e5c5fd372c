//! What the key of whoever was lent a sandbox may do now: the sandbox's own tokens stand for that key, and its
//! limits may have changed since the sandbox was made.

use std::sync::Arc;

use sandgate_core::KeyLimits;
use sandgate_store::{KeyRecord, Store, StoreError};

use super::target::Lent;

/// The key that a sandbox was made or last resumed with, as it is now.
#[derive(Debug)]
pub(crate) enum Maker {
    /// It was made without a key of the store.
    None,
    /// It is not there any more.
    Gone,
    Key(Box<KeyRecord>),
}

impl Maker {
    pub(crate) async fn of(store: &Store, lent: &impl Lent) -> Result<Self, StoreError> {
        let Some(id) = lent.key() else { return Ok(Self::None) };
        match store.key(id).await {
            Ok(key) => Ok(Self::Key(Box::new(key))),
            Err(StoreError::NotFound) => Ok(Self::Gone),
            Err(error) => Err(error),
        }
    }

    /// Whether it may still do anything.
    pub(crate) fn is_good(&self) -> bool {
        match self {
            Self::None => true,
            Self::Gone => false,
            Self::Key(key) => key.revoked_at.is_none() && !key.is_expired(),
        }
    }

    /// What it may do; without it, what was written down with the sandbox.
    pub(crate) fn limits(self, lent: &impl Lent) -> Arc<KeyLimits> {
        match self {
            Self::Key(key) if key.limits != **lent.limits() => Arc::new(key.limits),
            Self::Key(_) | Self::Gone | Self::None => Arc::clone(lent.limits()),
        }
    }
}

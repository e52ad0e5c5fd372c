//! Whose a container, a file or a response is. What one owner has does not exist for another.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// A name for whoever holds a key; the key cannot be told from it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Owner(String);

impl Owner {
    /// Everybody who came without a key.
    #[must_use]
    pub fn anonymous() -> Self {
        Self("anonymous".to_owned())
    }

    /// Whoever holds the master key.
    #[must_use]
    pub fn master() -> Self {
        Self("master".to_owned())
    }

    /// Whoever holds `key`. Ninety-six bits of its digest: enough that no two keys meet, too few to
    /// be of use to somebody who reads the database.
    #[must_use]
    pub fn of_key(key: &str) -> Self {
        let digest = Sha256::digest(key.as_bytes());
        let name: String = digest.iter().take(12).map(|byte| format!("{byte:02x}")).collect();
        Self(format!("key_{name}"))
    }

    /// As it was stored.
    #[must_use]
    pub fn from_stored(name: String) -> Self {
        Self(name)
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for Owner {
    fn default() -> Self {
        Self::anonymous()
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

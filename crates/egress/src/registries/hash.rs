//! The hashes that registries give for their files.

use std::fmt;

use sha2::{Digest, Sha256, Sha512};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Hash {
    Sha256([u8; 32]),
    Sha512([u8; 64]),
}

impl Hash {
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self::Sha256(Sha256::digest(bytes).into())
    }

    pub(super) fn sha256(hex: &str) -> Option<Self> {
        unhex(hex)?.try_into().ok().map(Self::Sha256)
    }

    /// As [`fmt::Display`] writes it.
    pub(super) fn read(text: &str) -> Option<Self> {
        match text.split_once('-')? {
            ("sha256", hex) => Self::sha256(hex),
            ("sha512", hex) => unhex(hex)?.try_into().ok().map(Self::Sha512),
            _ => None,
        }
    }

    pub(super) fn hex(&self) -> String {
        let bytes: &[u8] = match self {
            Self::Sha256(bytes) => bytes,
            Self::Sha512(bytes) => bytes,
        };
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

fn unhex(hex: &str) -> Option<Vec<u8>> {
    if !hex.len().is_multiple_of(2) || hex.len() > 128 || !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).ok()).collect()
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self {
            Self::Sha256(_) => "sha256",
            Self::Sha512(_) => "sha512",
        };
        write!(f, "{kind}-{}", self.hex())
    }
}

/// Makes a hash of what passes, of the kind that is to be compared with.
pub(super) enum Hasher {
    Sha256(Sha256),
    Sha512(Sha512),
}

impl Hasher {
    pub(super) fn like(hash: Hash) -> Self {
        match hash {
            Hash::Sha256(_) => Self::Sha256(Sha256::new()),
            Hash::Sha512(_) => Self::Sha512(Sha512::new()),
        }
    }

    pub(super) fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Sha256(hasher) => hasher.update(bytes),
            Self::Sha512(hasher) => hasher.update(bytes),
        }
    }

    pub(super) fn finish(self) -> Hash {
        match self {
            Self::Sha256(hasher) => Hash::Sha256(hasher.finalize().into()),
            Self::Sha512(hasher) => Hash::Sha512(hasher.finalize().into()),
        }
    }
}

#[cfg(test)]
#[path = "hash_tests.rs"]
mod tests;

//! Which user ids of the host stand behind the ids inside. Never 0.

use std::path::Path;
use std::{fs, io};

use sha2::{Digest, Sha256};

/// All engine ranges lie here, far above any real user.
const FIRST: u32 = 0x1000_0000;
/// Ids of one engine.
const PER_ENGINE: u32 = 1 << 24;
/// How many engines find room before two could share a range.
const ENGINES: u32 = 128;
/// The engine's own helpers use the first few.
const RESERVED: u32 = 16;
const PER_SANDBOX: u32 = 2;

/// The ids one engine hands out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum IdRange {
    /// Started by root: a range by the home's path, so that two servers with two homes have different ones.
    Range { first: u32 },
    /// Started by an ordinary user, who has only one id to give.
    Single { uid: u32, gid: u32 },
}

/// Ids of one sandbox, as the engine's user namespace numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SandboxIdPair {
    pub(crate) init: u32,
    pub(crate) user: u32,
}

impl IdRange {
    pub(crate) fn choose(home: &Path) -> Self {
        let (uid, gid) = (rustix::process::geteuid(), rustix::process::getegid());
        if !uid.is_root() {
            return Self::Single { uid: uid.as_raw(), gid: gid.as_raw() };
        }
        let digest = Sha256::digest(home.as_os_str().as_encoded_bytes());
        let slot = u32::from(digest[0]) % ENGINES;
        Self::Range { first: FIRST + slot * PER_ENGINE }
    }

    pub(crate) fn by_root(&self) -> bool {
        matches!(self, Self::Range { .. })
    }

    /// How many sandboxes can have ids of their own at once.
    pub(crate) fn slots(&self) -> u32 {
        (PER_ENGINE - RESERVED) / PER_SANDBOX
    }

    pub(crate) fn pair(&self, slot: u32) -> Option<SandboxIdPair> {
        match self {
            Self::Range { .. } => {
                let init = RESERVED + slot * PER_SANDBOX;
                Some(SandboxIdPair { init, user: init + 1 })
            }
            Self::Single { .. } => None,
        }
    }

    /// The host's id of the user inside; None: files belong to whoever started the engine anyway.
    pub(crate) fn host_user(&self, slot: u32) -> Option<u32> {
        match self {
            Self::Range { first } => self.pair(slot).map(|pair| first + pair.user),
            Self::Single { .. } => None,
        }
    }

    /// Gives the helper `pid`, which is in a new user namespace, its ids.
    pub(crate) fn write_maps(&self, pid: u32) -> io::Result<()> {
        let write = |file: &str, content: String| fs::write(format!("/proc/{pid}/{file}"), content);
        match self {
            Self::Range { first } => {
                write("uid_map", format!("0 {first} {PER_ENGINE}\n"))?;
                write("gid_map", format!("0 {first} {PER_ENGINE}\n"))
            }
            Self::Single { uid, gid } => {
                // Without this the kernel does not let an ordinary user map a group.
                write("setgroups", "deny".to_owned())?;
                write("uid_map", format!("0 {uid} 1\n"))?;
                write("gid_map", format!("0 {gid} 1\n"))
            }
        }
    }
}

#[cfg(test)]
#[path = "ids_tests.rs"]
mod tests;

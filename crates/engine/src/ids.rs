//! Which user ids of the host stand behind the ids inside. Never 0.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::Path;
use std::{fs, io};

use sandgate_core::random_hex;

/// All engine ranges lie here: above every user, and above what systemd hands out to containers.
const FIRST: u32 = 0x7000_0000;
/// Ids of one engine.
const PER_ENGINE: u32 = 1 << 20;
/// How many engines find room on one host; the last id is below 2^31, past which some programs go wrong.
const ENGINES: u32 = 256;
/// The engine's own helpers use the first few.
const RESERVED: u32 = 16;
const PER_SANDBOX: u32 = 2;

/// The ids one engine hands out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum IdRange {
    /// Started by root: a range that no other running engine has.
    Range { first: u32 },
    /// Started by an ordinary user, who has only one id to give.
    Single { uid: u32, gid: u32 },
}

/// Holds a range for as long as the engine runs, however it ends: an abstract socket with its number as name.
#[derive(Debug)]
pub(crate) struct IdClaim {
    _name: Option<UnixListener>,
}

impl IdClaim {
    /// None: another engine has this one.
    fn take(slot: u32) -> Option<Self> {
        let address = SocketAddr::from_abstract_name(format!("sandgate-ids-{slot}")).ok()?;
        Some(Self { _name: Some(UnixListener::bind_addr(&address).ok()?) })
    }
}

/// Ids of one sandbox, as the engine's user namespace numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SandboxIdPair {
    pub(crate) init: u32,
    pub(crate) user: u32,
}

impl IdRange {
    /// For sandboxes whose files stay, `remembered` is the file that keeps the choice: their files belong to
    /// these ids. Without it any free range will do.
    pub(crate) fn choose(remembered: Option<&Path>) -> io::Result<(Self, IdClaim)> {
        let (uid, gid) = (rustix::process::geteuid(), rustix::process::getegid());
        if !uid.is_root() {
            let single = Self::Single { uid: uid.as_raw(), gid: gid.as_raw() };
            return Ok((single, IdClaim { _name: None }));
        }
        let before = remembered.and_then(|file| fs::read_to_string(file).ok()?.trim().parse::<u32>().ok());
        if let Some(slot) = before.filter(|slot| *slot < ENGINES) {
            let claim = IdClaim::take(slot).unwrap_or_else(|| {
                tracing::warn!(
                    "another engine has the user ids of this home; namespaces alone keep the two apart"
                );
                IdClaim { _name: None }
            });
            return Ok((Self::at(slot), claim));
        }
        let start = u32::from_str_radix(&random_hex(2), 16).unwrap_or(0);
        let free = (0..ENGINES).map(|step| (start + step) % ENGINES);
        let found = free.filter_map(|slot| IdClaim::take(slot).map(|claim| (slot, claim))).next();
        let (slot, claim) =
            found.ok_or_else(|| io::Error::other("every range of user ids is taken by an engine"))?;
        if let Some(file) = remembered {
            fs::write(file, slot.to_string())?;
        }
        Ok((Self::at(slot), claim))
    }

    fn at(slot: u32) -> Self {
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

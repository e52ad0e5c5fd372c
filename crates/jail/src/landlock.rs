//! Landlock: a second opinion on files, independent of mounts; and no signals or abstract sockets
//! across the border of one interpreter.

use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, RestrictionStatus,
    Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetStatus, Scope,
};

use crate::{Result, StepError};

/// Where code inside may write; everywhere else it may only read.
const WRITABLE: [&str; 4] = ["/mnt/data", "/home/user", "/tmp", "/dev/shm"];
/// Devices that are written to in daily life.
const WRITABLE_DEVICES: [&str; 3] = ["/dev/null", "/dev/zero", "/dev/full"];

/// Terminals, and whichever is one's own: they are opened, spoken to and asked for their settings, never made or
/// removed.
const TERMINALS: &str = "/dev/pts";
const OWN_TERMINAL: &str = "/dev/tty";

fn failed(error: impl std::error::Error + Send + Sync + 'static) -> StepError {
    StepError::new("landlock", std::io::Error::other(error))
}

/// The Landlock version of the running kernel; 0: none.
#[must_use]
pub fn abi() -> i64 {
    const CREATE_RULESET_VERSION: u32 = 1;
    crate::sys::landlock_version(CREATE_RULESET_VERSION)
}

/// Restricts this thread and all it starts, for good. Whatever the kernel's version offers is demanded
/// of it, and a partial answer is an error: this layer never quietly weakens.
pub(crate) fn restrict() -> Result<()> {
    let version = match abi() {
        0 => return Err(StepError::new("landlock", std::io::Error::from_raw_os_error(libc::ENOSYS))),
        1 => ABI::V1,
        2 => ABI::V2,
        3 => ABI::V3,
        4 => ABI::V4,
        5 => ABI::V5,
        _ => ABI::V6,
    };
    let reading = AccessFs::from_read(version);
    let all = AccessFs::from_all(version);
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(all)
        .map_err(failed)?;
    let scopes = Scope::from_all(version);
    if !scopes.is_empty() {
        ruleset = ruleset.scope(scopes).map_err(failed)?;
    }
    let mut created = ruleset.create().map_err(failed)?;
    let mut allow = |path: &str, access: BitFlags<AccessFs>| -> Result<()> {
        let folder = PathFd::new(path).map_err(|error| failed(error).on(path))?;
        let rules = (&mut created).add_rule(PathBeneath::new(folder, access));
        rules.map(drop).map_err(|error| failed(error).on(path))
    };
    allow("/", reading)?;
    for path in WRITABLE {
        allow(path, all)?;
    }
    for path in WRITABLE_DEVICES {
        allow(path, (AccessFs::WriteFile | AccessFs::ReadFile) & all)?;
    }
    let terminal = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::ReadDir | AccessFs::IoctlDev;
    allow(TERMINALS, terminal & all)?;
    allow(OWN_TERMINAL, (terminal & !BitFlags::from(AccessFs::ReadDir)) & all)?;
    // A step of its own, before this one; the library would quietly make up for it if it were missing.
    let created = created.no_new_privs(false);
    let RestrictionStatus { ruleset: status, .. } = created.restrict_self().map_err(failed)?;
    if status == RulesetStatus::FullyEnforced {
        Ok(())
    } else {
        Err(StepError::new("landlock", std::io::Error::other("only partly enforced")))
    }
}

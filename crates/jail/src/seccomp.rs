//! Turns the policy into filter programs, once, before any sandbox is entered.

use std::collections::BTreeMap;

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

use crate::seccomp_policy::{ALLOWED, ALLOWED_LEGACY, IOCTLS, NEW_NAMESPACES, NOT_THERE, SOCKET_FAMILIES};
use crate::{Result, StepError, sys};

/// The programs, in the order they are installed: the allow-list last, because it refuses to install more.
/// What an earlier one answers in its own way, it lets pass.
#[derive(Clone, Debug)]
pub struct Filters {
    programs: Vec<BpfProgram>,
}

impl Filters {
    pub fn compile() -> Result<Self> {
        Self::build()
            .map_err(|error| StepError::new("compiling seccomp filters", std::io::Error::other(error)))
    }

    fn build() -> std::result::Result<Self, BackendError> {
        let arch = TargetArch::try_from(std::env::consts::ARCH)?;
        let refuse = |number: i32| SeccompAction::Errno(number.unsigned_abs());
        let allow_list = SeccompFilter::new(allowed()?, refuse(libc::EPERM), SeccompAction::Allow, arch)?;
        let families =
            SeccompFilter::new(families()?, SeccompAction::Allow, refuse(libc::EAFNOSUPPORT), arch)?;
        let absent = NOT_THERE.iter().map(|call| (*call, Vec::new())).collect();
        let absent = SeccompFilter::new(absent, SeccompAction::Allow, refuse(libc::ENOSYS), arch)?;
        let programs = [absent, families, allow_list].into_iter().map(BpfProgram::try_from);
        Ok(Self { programs: programs.collect::<std::result::Result<_, _>>()? })
    }

    pub fn install(&self) -> Result<()> {
        self.programs.iter().try_for_each(|program| sys::install_filter(program))
    }

    /// How many instructions there are; installing costs in proportion.
    #[must_use]
    pub fn instructions(&self) -> usize {
        self.programs.iter().map(Vec::len).sum()
    }

    #[cfg(test)]
    pub(crate) fn programs(&self) -> &[BpfProgram] {
        &self.programs
    }
}

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

fn when(
    argument: u8,
    length: SeccompCmpArgLen,
    operator: SeccompCmpOp,
    value: u64,
) -> std::result::Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, length, operator, value)
}

fn allowed() -> std::result::Result<Rules, BackendError> {
    let mut rules = Rules::new();
    for group in ALLOWED.iter().chain(ALLOWED_LEGACY) {
        for call in group.calls {
            rules.insert(*call, Vec::new());
        }
    }
    // Answered by a program of their own.
    rules.extend(NOT_THERE.iter().map(|call| (*call, Vec::new())));
    // A thread or child is fine as long as no flag asks for a namespace.
    let namespaces = NEW_NAMESPACES.iter().fold(0u64, |all, flag| all | u64::from(flag.cast_unsigned()));
    let none = when(0, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(namespaces), 0)?;
    rules.insert(libc::SYS_clone, vec![SeccompRule::new(vec![none])?]);
    let requests = IOCTLS
        .iter()
        .map(|request| SeccompRule::new(vec![when(1, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, *request)?]));
    rules.insert(libc::SYS_ioctl, requests.collect::<std::result::Result<_, _>>()?);
    Ok(rules)
}

/// Matches what is NOT an allowed family, so that such a socket is "not supported" rather than "not permitted".
fn families() -> std::result::Result<Rules, BackendError> {
    let other_family = || -> std::result::Result<SeccompRule, BackendError> {
        let conditions = SOCKET_FAMILIES.iter().map(|family| {
            when(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, u64::from(family.unsigned_abs()))
        });
        SeccompRule::new(conditions.collect::<std::result::Result<_, _>>()?)
    };
    Ok(Rules::from([
        (libc::SYS_socket, vec![other_family()?]),
        (libc::SYS_socketpair, vec![other_family()?]),
    ]))
}

#[cfg(test)]
#[path = "seccomp_tests.rs"]
mod tests;

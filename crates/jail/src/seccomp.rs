//! Turns the policy into one small filter program, once, before any sandbox is entered.
//!
//! Written by hand rather than with a library because installing costs in proportion to the length, in every
//! fork: allowed numbers lie close together, so that runs of them make a program a tenth as long.

use crate::seccomp_policy::{
    ALLOWED, ALLOWED_LEGACY, CLOSE_RANGE_FLAGS, IOCTLS, NOT_SUPPORTED, NOT_THERE, REFUSED_CLONES,
    REFUSED_FCNTLS,
};
use crate::seccomp_program::{ALLOW, Instruction, KILL_PROCESS, Program, refuse};
use crate::socket_policy::{
    MAKING, MESSAGE_CALLS, MESSAGE_FLAGS, OPTIONS, READ_LARGE_OPTIONS, READ_OPTIONS, Sockets, TYPE_FLAGS,
};
use crate::{Result, sys};

#[cfg(target_arch = "x86_64")]
const THIS_ARCH: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const THIS_ARCH: u32 = 0xc000_00b7;

/// The program that every process of a sandbox runs under.
#[derive(Clone, Debug)]
pub struct Filters {
    program: Vec<Instruction>,
}

impl Filters {
    pub fn compile() -> Result<Self> {
        let mut program = Program::default();
        // A call made the way of another architecture has other numbers: not to be reasoned about.
        program.load_architecture();
        program.unless_equal(THIS_ARCH, KILL_PROCESS);
        program.load_number();
        for call in NOT_THERE {
            program.answer(*call, |block| block.verdict(refuse(libc::ENOSYS)));
        }
        for call in NOT_SUPPORTED {
            program.answer(*call, |block| block.verdict(refuse(libc::EOPNOTSUPP)));
        }
        program.answer(libc::SYS_ioctl, |block| {
            let requests: Vec<u32> =
                IOCTLS.iter().map(|request| u32::try_from(request & 0xffff_ffff).unwrap_or(0)).collect();
            block.load_argument(1);
            block.allow_only(&requests, refuse(libc::EPERM));
        });
        program.answer(libc::SYS_fcntl, |block| {
            block.load_argument(1);
            block.when(&words(REFUSED_FCNTLS), |block| block.verdict(refuse(libc::EINVAL)));
            block.verdict(ALLOW);
        });
        program.answer(libc::SYS_clone, |block| {
            // A thread or child is fine as long as it is its maker's own, in the namespaces there are.
            block.load_argument(0);
            block.refuse_bits(bits(REFUSED_CLONES), refuse(libc::EPERM));
            // One with descriptors of its own could hide what it holds open.
            block.keep_bits(bits(&[libc::CLONE_THREAD, libc::CLONE_FILES]));
            block.when(&words(&[libc::CLONE_THREAD]), |block| block.verdict(refuse(libc::EPERM)));
            block.verdict(ALLOW);
        });
        program.answer(libc::SYS_close_range, |block| {
            block.load_argument(2);
            block.refuse_bits(!CLOSE_RANGE_FLAGS, refuse(libc::EINVAL));
            block.verdict(ALLOW);
        });
        sockets(&mut program);
        program.allow_runs(&allowed_runs(), refuse(libc::EPERM))?;
        Ok(Self { program: program.0 })
    }

    pub fn install(&self) -> Result<()> {
        sys::install_filter(&self.program)
    }

    /// How many instructions there are; installing costs in proportion.
    #[must_use]
    pub fn instructions(&self) -> usize {
        self.program.len()
    }

    #[cfg(test)]
    pub(crate) fn program(&self) -> &[Instruction] {
        &self.program
    }
}

/// Making sockets, sending and receiving, options. Errors are those of a kernel that has no such thing, so that
/// programs fall back to what there is.
fn sockets(program: &mut Program) {
    for (call, kinds) in MAKING {
        program.answer(*call, |block| {
            block.load_argument(0);
            for kind in *kinds {
                block.when(&words(kind.families), |block| one_kind(block, kind));
            }
            block.verdict(refuse(libc::EAFNOSUPPORT));
        });
    }
    for (argument, calls) in MESSAGE_CALLS {
        let numbers: Vec<u32> = calls.iter().filter_map(|call| u32::try_from(*call).ok()).collect();
        program.when(&numbers, |block| {
            block.load_argument(*argument);
            block.refuse_bits(!bits(MESSAGE_FLAGS), refuse(libc::EOPNOTSUPP));
            block.verdict(ALLOW);
        });
    }
    let refusal = refuse(libc::ENOPROTOOPT);
    program.answer(libc::SYS_setsockopt, |block| block.allow_members(1, 2, &option_lists(&[]), refusal));
    program.answer(libc::SYS_getsockopt, |block| {
        block.load_argument(2);
        block.when(&words(READ_LARGE_OPTIONS), |block| {
            block.load_argument(1);
            block.allow_only(&words(&[libc::SOL_SOCKET]), refusal);
        });
        block.allow_members(1, 2, &option_lists(READ_OPTIONS), refusal);
    });
}

fn one_kind(block: &mut Program, kind: &Sockets) {
    block.load_argument(1);
    block.keep_bits(!TYPE_FLAGS.cast_unsigned());
    for of_type in kind.types {
        block.when(&words(&[of_type.number]), |block| {
            block.load_argument(2);
            block.allow_only(&words(of_type.protocols), refuse(libc::EPROTONOSUPPORT));
        });
    }
    block.verdict(refuse(libc::ESOCKTNOSUPPORT));
}

/// The options of each level, as a set of bits.
fn option_lists(more: &[(i32, &[i32])]) -> Vec<(u32, u32)> {
    let set = |lists: &[(i32, &[i32])], level: i32| -> u32 {
        let options = lists.iter().filter(|(of, _)| *of == level).flat_map(|(_, options)| *options);
        options.fold(0, |all, option| all | 1u32.checked_shl(option.cast_unsigned()).unwrap_or(0))
    };
    OPTIONS
        .iter()
        .map(|(level, _)| (level.cast_unsigned(), set(OPTIONS, *level) | set(more, *level)))
        .collect()
}

fn words(values: &[i32]) -> Vec<u32> {
    values.iter().map(|value| value.cast_unsigned()).collect()
}

fn bits(flags: &[i32]) -> u32 {
    flags.iter().fold(0, |all, flag| all | flag.cast_unsigned())
}

/// Allowed numbers as runs of first to last, in order.
fn allowed_runs() -> Vec<(u32, u32)> {
    let groups = ALLOWED.iter().chain(ALLOWED_LEGACY);
    let mut numbers: Vec<u32> =
        groups.flat_map(|group| group.calls).filter_map(|call| u32::try_from(*call).ok()).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => runs.push((number, number)),
        }
    }
    runs
}

#[cfg(test)]
#[path = "seccomp_tests.rs"]
mod tests;

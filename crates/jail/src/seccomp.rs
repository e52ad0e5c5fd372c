//! Turns the policy into one small filter program, once, before any sandbox is entered.
//!
//! Written by hand rather than with a library because it is installed in every fork, where the kernel translates
//! it and goes through it once for each call there is: allowed numbers lie close together and make few parts, and
//! a part is found by halves.

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::io;

use crate::seccomp_policy::{
    ALLOWED, ALLOWED_LEGACY, ATTRIBUTES, CLOSE_RANGE_FLAGS, IOCTLS, MADE_FILES, MAKING_FILES, NEWEST,
    NOT_SUPPORTED, NOT_THERE, OTHER_FORMS, REFUSED_CLONES, REFUSED_FCNTLS,
};
use crate::seccomp_program::{ALLOW, Instruction, KILL_PROCESS, Program, refuse};
use crate::socket_policy::{
    MAKING, MESSAGE_CALLS, MESSAGE_FLAGS, OPTIONS, READ_LARGE_OPTIONS, READ_OPTIONS, SOCKETS, Sockets,
    TYPE_FLAGS,
};
use crate::{Result, StepError, sys};

#[cfg(target_arch = "x86_64")]
const THIS_ARCH: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const THIS_ARCH: u32 = 0xc000_00b7;

/// What the kernel takes.
const MAX_INSTRUCTIONS: usize = 4096;

/// Where the disk of a sandbox is.
const DISK: &CStr = c"/home/user";

/// The program that every process of a sandbox runs under: the one or the other, by what its disk counts.
#[derive(Clone, Debug)]
pub struct Filters {
    with_attributes: Vec<Instruction>,
    without_attributes: Vec<Instruction>,
}

impl Filters {
    pub fn compile() -> Result<Self> {
        Ok(Self { with_attributes: program(true)?, without_attributes: program(false)? })
    }

    /// In the sandbox, whose disk is looked at.
    pub fn install(&self) -> Result<()> {
        let program =
            if sys::counts_attributes(DISK) { &self.with_attributes } else { &self.without_attributes };
        sys::install_filter(program)
    }

    /// How many instructions there are; installing costs in proportion.
    #[must_use]
    pub fn instructions(&self) -> usize {
        self.with_attributes.len()
    }

    #[cfg(test)]
    pub(crate) fn program(&self) -> &[Instruction] {
        &self.with_attributes
    }
}

fn program(attributes: bool) -> Result<Vec<Instruction>> {
    let mut program = Program::default();
    // A call made the way of another architecture has other numbers: not to be reasoned about.
    program.load_architecture();
    program.unless_equal(THIS_ARCH, KILL_PROCESS);
    program.load_number();
    program.choose(&parts(attributes));
    if program.0.len() > MAX_INSTRUCTIONS {
        return Err(StepError::new("compiling the seccomp filter", io::Error::other("it is too long")));
    }
    Ok(program.0)
}

/// The answer to each call, as parts of neighbours that have the same one.
fn parts(attributes: bool) -> Vec<(u32, Program)> {
    let mut answers = BTreeMap::new();
    let mut put = |calls: &[i64], answer: Program| {
        answers.extend(numbers(calls).into_iter().map(|number| (number, answer.clone())));
    };
    for group in ALLOWED.iter().chain(ALLOWED_LEGACY) {
        put(group.calls, always(ALLOW));
    }
    put(ATTRIBUTES, always(if attributes { ALLOW } else { refuse(libc::EOPNOTSUPP) }));
    put(NOT_THERE, always(refuse(libc::ENOSYS)));
    put(NOT_SUPPORTED, always(refuse(libc::EOPNOTSUPP)));
    put(&[libc::SYS_ioctl], ioctl());
    put(&[libc::SYS_fcntl], fcntl());
    put(&[libc::SYS_clone], clone());
    put(&[libc::SYS_close_range], flags(2, CLOSE_RANGE_FLAGS, libc::EINVAL));
    for (argument, call) in MAKING_FILES {
        put(&[*call], making_files(*argument));
    }
    put(MAKING, making_sockets());
    for (argument, calls) in MESSAGE_CALLS {
        put(calls, flags(*argument, bits(MESSAGE_FLAGS), libc::EOPNOTSUPP));
    }
    put(&[libc::SYS_setsockopt], setting_options());
    put(&[libc::SYS_getsockopt], reading_options());
    let mut parts: Vec<(u32, Program)> = Vec::new();
    let newest = numbers(&[NEWEST]).first().copied().unwrap_or(0);
    for number in 0..=newest {
        let answer = answers.remove(&number).unwrap_or_else(|| always(refuse(libc::EPERM)));
        if parts.last().is_none_or(|(_, before)| *before != answer) {
            parts.push((number, answer));
        }
    }
    parts.push((newest + 1, always(refuse(libc::ENOSYS))));
    parts.push((OTHER_FORMS, always(refuse(libc::EPERM))));
    parts
}

fn always(verdict: u32) -> Program {
    Program::of(|block| block.verdict(verdict))
}

/// Allowed when the argument has no other bits than these.
fn flags(argument: u32, allowed: u32, errno: i32) -> Program {
    Program::of(|block| {
        block.load_argument(argument);
        block.refuse_bits(!allowed, refuse(errno));
        block.verdict(ALLOW);
    })
}

/// The kernel itself looks at these bits alone, whatever else is in the argument.
fn making_files(argument: u32) -> Program {
    Program::of(|block| {
        block.load_argument(argument);
        block.keep_bits(libc::S_IFMT);
        block.allow_only(MADE_FILES, refuse(libc::EPERM));
    })
}

fn ioctl() -> Program {
    let requests: Vec<u32> =
        IOCTLS.iter().map(|request| u32::try_from(request & 0xffff_ffff).unwrap_or(0)).collect();
    Program::of(|block| {
        block.load_argument(1);
        block.allow_only(&requests, refuse(libc::EPERM));
    })
}

fn fcntl() -> Program {
    Program::of(|block| {
        block.load_argument(1);
        block.when(&words(REFUSED_FCNTLS), |block| block.verdict(refuse(libc::EINVAL)));
        block.verdict(ALLOW);
    })
}

/// A thread or child is fine as long as it is its maker's own, in the namespaces there are.
fn clone() -> Program {
    Program::of(|block| {
        block.load_argument(0);
        block.refuse_bits(bits(REFUSED_CLONES), refuse(libc::EPERM));
        // A thread with descriptors of its own could hide what it holds open.
        block.keep_bits(bits(&[libc::CLONE_THREAD, libc::CLONE_FILES]));
        block.when(&words(&[libc::CLONE_THREAD]), |block| block.verdict(refuse(libc::EPERM)));
        block.verdict(ALLOW);
    })
}

/// Errors are those of a kernel that has no such thing, so that programs fall back to what there is.
fn making_sockets() -> Program {
    Program::of(|block| {
        block.load_argument(0);
        for sockets in SOCKETS {
            block.when(&words(sockets.families), |block| kinds_of(block, sockets));
        }
        block.verdict(refuse(libc::EAFNOSUPPORT));
    })
}

fn setting_options() -> Program {
    Program::of(|block| block.allow_members(1, 2, &option_lists(&[]), refuse(libc::ENOPROTOOPT)))
}

fn reading_options() -> Program {
    let refusal = refuse(libc::ENOPROTOOPT);
    Program::of(|block| {
        block.load_argument(2);
        block.when(&words(READ_LARGE_OPTIONS), |block| {
            block.load_argument(1);
            block.allow_only(&words(&[libc::SOL_SOCKET]), refusal);
        });
        block.allow_members(1, 2, &option_lists(READ_OPTIONS), refusal);
    })
}

fn kinds_of(block: &mut Program, sockets: &Sockets) {
    block.load_argument(1);
    block.keep_bits(!TYPE_FLAGS.cast_unsigned());
    for kind in sockets.kinds {
        block.when(&words(kind.types), |block| {
            block.load_argument(2);
            block.allow_only(&words(kind.protocols), refuse(libc::EPROTONOSUPPORT));
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

fn numbers(calls: &[i64]) -> Vec<u32> {
    calls.iter().filter_map(|call| u32::try_from(*call).ok()).collect()
}

fn words(values: &[i32]) -> Vec<u32> {
    values.iter().map(|value| value.cast_unsigned()).collect()
}

fn bits(flags: &[i32]) -> u32 {
    flags.iter().fold(0, |all, flag| all | flag.cast_unsigned())
}

#[cfg(test)]
#[path = "seccomp_tests.rs"]
mod tests;

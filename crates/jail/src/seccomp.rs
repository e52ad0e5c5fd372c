//! Turns the policy into one small filter program, once, before any sandbox is entered.
//!
//! Written by hand rather than with a library because installing costs in proportion to the length, in every
//! fork: allowed numbers lie close together, so that runs of them make a program a tenth as long.

use std::io;

use crate::seccomp_policy::{
    ALLOWED, ALLOWED_LEGACY, IOCTLS, NOT_SUPPORTED, NOT_THERE, REFUSED_CLONES, SOCKET_CALLS, SOCKET_FAMILIES,
};
use crate::{Result, StepError, sys};

/// One instruction of the kernel's packet filter machine.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Instruction {
    pub(crate) code: u16,
    pub(crate) if_true: u8,
    pub(crate) if_false: u8,
    pub(crate) value: u32,
}

// The instructions used, by the names of linux/bpf_common.h.
const LD_W_ABS: u16 = 0x20;
const JMP_JEQ: u16 = 0x15;
const JMP_JGT: u16 = 0x25;
const JMP_JGE: u16 = 0x35;
const JMP_JSET: u16 = 0x45;
const RET: u16 = 0x06;

// Where the kernel puts what is asked about.
const NUMBER: u32 = 0;
const ARCH: u32 = 4;
const fn low_half_of_argument(index: u32) -> u32 {
    16 + 8 * index
}

const ALLOW: u32 = 0x7fff_0000;
const KILL_PROCESS: u32 = 0x8000_0000;
const fn refuse(errno: i32) -> u32 {
    0x0005_0000 | errno.unsigned_abs()
}

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
        program.push(LD_W_ABS, ARCH);
        program.unless_equal_return(THIS_ARCH, KILL_PROCESS);
        program.push(LD_W_ABS, NUMBER);
        for call in NOT_THERE {
            program.answer(*call, |block| block.push(RET, refuse(libc::ENOSYS)));
        }
        for call in NOT_SUPPORTED {
            program.answer(*call, |block| block.push(RET, refuse(libc::EOPNOTSUPP)));
        }
        for call in SOCKET_CALLS {
            program.answer(*call, |block| {
                let families = SOCKET_FAMILIES.iter().map(|family| family.unsigned_abs());
                block.return_by_argument(0, families, refuse(libc::EAFNOSUPPORT));
            });
        }
        program.answer(libc::SYS_ioctl, |block| {
            // The kernel itself looks at the low half only.
            let requests = IOCTLS.iter().map(|request| u32::try_from(request & 0xffff_ffff).unwrap_or(0));
            block.return_by_argument(1, requests, refuse(libc::EPERM));
        });
        program.answer(libc::SYS_clone, |block| {
            // A thread or child is fine as long as it is its maker's own, in the namespaces there are.
            let refused = REFUSED_CLONES.iter().fold(0, |all, flag| all | flag.cast_unsigned());
            block.push(LD_W_ABS, low_half_of_argument(0));
            block.jump(JMP_JSET, refused, 0, 1);
            block.push(RET, refuse(libc::EPERM));
            block.push(RET, ALLOW);
        });
        program.return_by_number(&allowed_runs())?;
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

#[derive(Default)]
struct Program(Vec<Instruction>);

impl Program {
    fn push(&mut self, code: u16, value: u32) {
        self.jump(code, value, 0, 0);
    }

    fn jump(&mut self, code: u16, value: u32, if_true: u8, if_false: u8) {
        self.0.push(Instruction { code, if_true, if_false, value });
    }

    fn unless_equal_return(&mut self, value: u32, verdict: u32) {
        self.jump(JMP_JEQ, value, 1, 0);
        self.push(RET, verdict);
    }

    /// A call that is not answered by its number alone. The block must end in a verdict on every way.
    fn answer(&mut self, call: i64, block: impl FnOnce(&mut Self)) {
        let mut inner = Self::default();
        block(&mut inner);
        // Blocks are a few dozen instructions; a longer one would be cut off here and fail every test.
        let length = u8::try_from(inner.0.len()).unwrap_or(0);
        self.jump(JMP_JEQ, u32::try_from(call).unwrap_or(u32::MAX), 0, length);
        self.0.append(&mut inner.0);
    }

    /// Allowed when the argument is one of `values`.
    fn return_by_argument(&mut self, argument: u32, values: impl Iterator<Item = u32>, otherwise: u32) {
        self.push(LD_W_ABS, low_half_of_argument(argument));
        for value in values {
            self.jump(JMP_JEQ, value, 0, 1);
            self.push(RET, ALLOW);
        }
        self.push(RET, otherwise);
    }

    /// Allowed when the number lies in one of the runs, which are in order: below a run that was reached,
    /// there is only a gap.
    fn return_by_number(&mut self, runs: &[(u32, u32)]) -> Result<()> {
        let too_long = |_| {
            StepError::new("compiling the seccomp filter", io::Error::other("the list has too many gaps"))
        };
        for (index, (first, last)) in runs.iter().enumerate() {
            // From the second of this run's two instructions to the verdicts after the last run.
            let after = 2 * (runs.len() - index - 1);
            let to_refusal = u8::try_from(after + 1).map_err(too_long)?;
            let to_permission = u8::try_from(after + 1).map_err(too_long)?;
            self.jump(JMP_JGE, *first, 0, to_refusal);
            self.jump(JMP_JGT, *last, 0, to_permission);
        }
        self.push(RET, refuse(libc::EPERM));
        self.push(RET, ALLOW);
        Ok(())
    }
}

#[cfg(test)]
#[path = "seccomp_tests.rs"]
mod tests;

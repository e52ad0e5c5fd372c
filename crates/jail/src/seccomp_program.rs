//! Writes programs for the kernel's packet filter machine, from small pieces that can be checked by eye.

/// One instruction of the machine.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Instruction {
    pub(crate) code: u16,
    pub(crate) if_true: u8,
    pub(crate) if_false: u8,
    pub(crate) value: u32,
}

// The instructions used, by the names of linux/bpf_common.h.
const LD_IMM: u16 = 0x00;
const LD_W_ABS: u16 = 0x20;
const ALU_AND: u16 = 0x54;
const ALU_LSH_X: u16 = 0x6c;
const JMP_JA: u16 = 0x05;
const JMP_JEQ: u16 = 0x15;
const JMP_JGT: u16 = 0x25;
const JMP_JGE: u16 = 0x35;
const JMP_JSET: u16 = 0x45;
const RET: u16 = 0x06;
const TAX: u16 = 0x07;
const TXA: u16 = 0x87;

// Where the kernel puts what is asked about.
const NUMBER: u32 = 0;
const ARCH: u32 = 4;
/// The kernel itself looks at the low half only, of all arguments that are looked at here.
const fn low_half_of_argument(index: u32) -> u32 {
    16 + 8 * index
}

pub(crate) const ALLOW: u32 = 0x7fff_0000;
pub(crate) const KILL_PROCESS: u32 = 0x8000_0000;
pub(crate) const fn refuse(errno: i32) -> u32 {
    0x0005_0000 | errno.unsigned_abs()
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Program(pub(crate) Vec<Instruction>);

impl Program {
    pub(crate) fn of(write: impl FnOnce(&mut Self)) -> Self {
        let mut program = Self::default();
        write(&mut program);
        program
    }

    fn push(&mut self, code: u16, value: u32) {
        self.jump(code, value, 0, 0);
    }

    fn jump(&mut self, code: u16, value: u32, if_true: u8, if_false: u8) {
        self.0.push(Instruction { code, if_true, if_false, value });
    }

    pub(crate) fn load_number(&mut self) {
        self.push(LD_W_ABS, NUMBER);
    }

    pub(crate) fn load_architecture(&mut self) {
        self.push(LD_W_ABS, ARCH);
    }

    pub(crate) fn load_argument(&mut self, index: u32) {
        self.push(LD_W_ABS, low_half_of_argument(index));
    }

    /// Keeps only the bits of `mask` of what was loaded.
    pub(crate) fn keep_bits(&mut self, mask: u32) {
        self.push(ALU_AND, mask);
    }

    pub(crate) fn verdict(&mut self, verdict: u32) {
        self.push(RET, verdict);
    }

    pub(crate) fn unless_equal(&mut self, value: u32, verdict: u32) {
        self.jump(JMP_JEQ, value, 1, 0);
        self.verdict(verdict);
    }

    /// A block of its own for what was loaded being one of `values`; it must end in a verdict on every way.
    pub(crate) fn when(&mut self, values: &[u32], block: impl FnOnce(&mut Self)) {
        let mut inner = Self::of(block);
        // Blocks are a few dozen instructions; a longer one would be cut off here and fail every test.
        let length = u8::try_from(inner.0.len()).unwrap_or(0);
        for (index, value) in values.iter().enumerate() {
            let to_block = u8::try_from(values.len() - index - 1).unwrap_or(0);
            let otherwise = if to_block == 0 { length } else { 0 };
            self.jump(JMP_JEQ, *value, to_block, otherwise);
        }
        self.0.append(&mut inner.0);
    }

    /// Allowed when what was loaded is one of `values`.
    pub(crate) fn allow_only(&mut self, values: &[u32], otherwise: u32) {
        self.when(values, |block| block.verdict(ALLOW));
        self.verdict(otherwise);
    }

    /// Goes on only when none of the bits is set in what was loaded.
    pub(crate) fn refuse_bits(&mut self, bits: u32, verdict: u32) {
        self.jump(JMP_JSET, bits, 0, 1);
        self.verdict(verdict);
    }

    /// Allowed when the argument `index` of `within` names a list and `member` is on it. Lists are sets of bits,
    /// so members are below 32, and a whole list is one comparison.
    pub(crate) fn allow_members(&mut self, within: u32, member: u32, lists: &[(u32, u32)], otherwise: u32) {
        self.load_argument(member);
        self.jump(JMP_JGT, 31, 0, 1);
        self.verdict(otherwise);
        self.push(TAX, 0);
        self.push(LD_IMM, 1);
        self.push(ALU_LSH_X, 0);
        self.push(TAX, 0);
        self.load_argument(within);
        for (name, list) in lists {
            self.when(&[*name], |block| {
                block.push(TXA, 0);
                block.allow_with_bits(*list, otherwise);
            });
        }
        self.verdict(otherwise);
    }

    fn allow_with_bits(&mut self, bits: u32, otherwise: u32) {
        self.jump(JMP_JSET, bits, 0, 1);
        self.verdict(ALLOW);
        self.verdict(otherwise);
    }

    /// Goes to the block of the part that what was loaded lies in. Parts begin at their number and are in order,
    /// the first at 0; each block ends in a verdict on every way. Asks in halves: the kernel goes through the
    /// program once for each of its calls when it is installed.
    pub(crate) fn choose(&mut self, parts: &[(u32, Self)]) {
        match parts {
            [] => {}
            [(_, block)] => self.0.extend_from_slice(&block.0),
            parts => {
                let (below, above) = parts.split_at(parts.len() / 2);
                let mut lower = Self::of(|lower| lower.choose(below));
                match u8::try_from(lower.0.len()) {
                    Ok(length) => self.jump(JMP_JGE, above[0].0, length, 0),
                    Err(_) => {
                        self.jump(JMP_JGE, above[0].0, 0, 1);
                        self.push(JMP_JA, u32::try_from(lower.0.len()).unwrap_or(u32::MAX));
                    }
                }
                self.0.append(&mut lower.0);
                self.choose(above);
            }
        }
    }
}

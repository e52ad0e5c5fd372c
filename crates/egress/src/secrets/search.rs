//! Finds values in a text, in one pass, however they overlap. What it costs and how long it takes do not depend on how
//! much of a value a text holds: code inside may have any text of its own sent back, and must not learn from that
//! whether it has guessed a few letters. So texts are compared by hashes of whole values alone.

use std::collections::HashMap;
use std::fmt;

use sandgate_core::network::LONGEST_SECRET;

/// Of a form that a value may have: each of its bytes as `\u00XX`.
pub(super) const LONGEST_FORM: usize = 6 * LONGEST_SECRET;
/// The end of a value that is looked up at each byte. No value is shorter.
const WINDOW: usize = 8;
/// Bits of the filter that nearly every window stops at.
const FILTER_BITS: u32 = 14;
/// A prime; hashes are what is left by it.
const PRIME: u64 = (1 << 61) - 1;

/// Values by their hashes, and what stands for each.
pub(crate) struct Search {
    /// By which no text is hashed to what a value is, but by chance.
    base: u64,
    filter_key: u64,
    filter: Vec<u64>,
    window: u64,
    /// By what they end with, the longest first.
    endings: HashMap<u64, Vec<Form>>,
    stand_ins: Vec<Vec<u8>>,
    longest: usize,
}

#[derive(Clone, Copy)]
struct Form {
    length: usize,
    hash: u64,
    /// The base to the power of the length.
    power: u64,
    which: usize,
}

/// Nothing of values, not even of their hashes.
impl fmt::Debug for Search {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Search")
    }
}

fn product(one: u64, other: u64) -> u64 {
    let wide = u128::from(one) * u128::from(other);
    // Both parts are below the prime or equal to it.
    reduced((wide as u64 & PRIME) + (wide >> 61) as u64)
}

fn reduced(number: u64) -> u64 {
    if number >= PRIME { number - PRIME } else { number }
}

impl Search {
    pub(super) fn new(pairs: impl IntoIterator<Item = (Vec<u8>, Vec<u8>)>) -> Self {
        let pairs: Vec<_> = pairs.into_iter().filter(|(value, _)| !value.is_empty()).collect();
        let shortest = pairs.iter().map(|(value, _)| value.len()).min().unwrap_or(WINDOW).min(WINDOW);
        let mut search = Self {
            base: (random() % (PRIME - 256)) + 256,
            filter_key: random() | 1,
            filter: vec![0; 1 << (FILTER_BITS - 6)],
            window: u64::MAX >> (64 - 8 * shortest),
            endings: HashMap::new(),
            stand_ins: Vec::new(),
            longest: pairs.iter().map(|(value, _)| value.len()).max().unwrap_or(0),
        };
        for (value, stands) in pairs {
            search.add(&value);
            search.stand_ins.push(stands);
        }
        for forms in search.endings.values_mut() {
            forms.sort_by_key(|form| std::cmp::Reverse(form.length));
            // Two values may have one form; the first of them counts.
            forms.dedup_by_key(|form| (form.length, form.hash));
        }
        search
    }

    fn add(&mut self, value: &[u8]) {
        let (mut hash, mut power, mut ending) = (0, 1, 0);
        for byte in value {
            hash = self.longer(hash, *byte);
            power = product(power, self.base);
            ending = ending << 8 | u64::from(*byte);
        }
        ending &= self.window;
        let bit = self.bit(ending);
        self.filter[bit / 64] |= 1 << (bit % 64);
        let form = Form { length: value.len(), hash, power, which: self.stand_ins.len() };
        self.endings.entry(ending).or_default().push(form);
    }

    /// The hash of a text that goes on with this byte.
    fn longer(&self, hash: u64, byte: u8) -> u64 {
        reduced(product(hash, self.base) + u64::from(byte))
    }

    fn bit(&self, ending: u64) -> usize {
        (ending.wrapping_mul(self.filter_key) >> (64 - FILTER_BITS)) as usize
    }

    pub(super) fn is_empty(&self) -> bool {
        self.stand_ins.is_empty()
    }

    /// The most bytes that can be the beginning of a value: the same for all values there may be.
    pub(super) fn most_begun(&self) -> usize {
        self.longest.max(LONGEST_FORM) - 1
    }

    pub(super) fn stand_in(&self, which: usize) -> &[u8] {
        &self.stand_ins[which]
    }

    /// All of `bytes` with values replaced.
    pub(super) fn replaced(&self, bytes: &[u8]) -> Vec<u8> {
        let (mut passing, mut out) = (super::passing::Passing::default(), Vec::new());
        passing.push(self, bytes, &mut out);
        passing.finish(self, &mut out);
        out
    }

    /// Whether a value is in `bytes`.
    pub(super) fn is_in(&self, bytes: &[u8]) -> bool {
        let mut seen = Seen::default();
        bytes.iter().any(|byte| seen.push(self, *byte).is_some())
    }
}

fn random() -> u64 {
    std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), 0)
}

/// What a text was up to here, as far as a value may reach back.
#[derive(Default)]
pub(super) struct Seen {
    last: u64,
    /// Of the whole text up to each of the last bytes, the newest last.
    hashes: std::collections::VecDeque<u64>,
}

impl Seen {
    /// The longest value that ends with this byte: its length, and which it is.
    pub(super) fn push(&mut self, search: &Search, byte: u8) -> Option<(usize, usize)> {
        if self.hashes.is_empty() {
            self.hashes.push_back(0);
        }
        let hash = search.longer(self.hashes.back().copied().unwrap_or(0), byte);
        self.hashes.push_back(hash);
        if self.hashes.len() > search.longest + 1 {
            self.hashes.pop_front();
        }
        self.last = (self.last << 8 | u64::from(byte)) & search.window;
        let bit = search.bit(self.last);
        if search.filter[bit / 64] & (1 << (bit % 64)) == 0 {
            return None;
        }
        let forms = search.endings.get(&self.last)?;
        let found = forms.iter().find(|form| self.ends_with(form))?;
        Some((found.length, found.which))
    }

    fn ends_with(&self, form: &Form) -> bool {
        let before = self.hashes.len().checked_sub(form.length + 1).and_then(|at| self.hashes.get(at));
        let Some((before, now)) = before.zip(self.hashes.back()) else { return false };
        reduced(product(*before, form.power) + form.hash) == *now
    }
}

#[cfg(test)]
#[path = "search_tests.rs"]
mod tests;

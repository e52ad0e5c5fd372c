//! Finds values in what passes by, in one pass, however they overlap and however it is cut into pieces. What it costs
//! does not depend on what the values are: whoever gives them may also be whoever sends what is searched.

use std::collections::VecDeque;

/// Values, and what stands for each. An automaton by Aho and Corasick: a node is a beginning of one value or more.
#[derive(Debug)]
pub(crate) struct Search {
    nodes: Vec<Node>,
    stand_ins: Vec<Vec<u8>>,
}

/// Small, as there is one for each byte of each form of each value.
#[derive(Clone, Copy, Debug, Default)]
struct Node {
    /// By which byte it is reached from the beginning that is one shorter.
    byte: u8,
    /// The first of those that are one longer, and the next of those that are so beside this one. The root is none.
    child: u32,
    beside: u32,
    /// The longest other beginning that this one ends with.
    falls_to: u32,
    length: u32,
    /// The length of the longest value that this beginning ends with, and which it is; nothing is no value.
    found: u32,
    which: u32,
}

const ROOT: u32 = 0;
/// Fewer letters of a value are of no use, and found everywhere.
const LEAST_HELD: u32 = 4;

impl Search {
    pub(super) fn new(pairs: impl IntoIterator<Item = (Vec<u8>, Vec<u8>)>) -> Self {
        let mut search = Self { nodes: vec![Node::default()], stand_ins: Vec::new() };
        for (value, stands) in pairs {
            search.add(&value);
            search.stand_ins.push(stands);
        }
        search.link();
        search
    }

    fn add(&mut self, value: &[u8]) {
        let mut at = ROOT;
        for byte in value {
            at = match self.child(at, *byte) {
                Some(next) => next,
                None => self.longer(at, *byte),
            };
        }
        let which = small(self.stand_ins.len());
        let node = self.node_mut(at);
        if node.found == 0 {
            (node.found, node.which) = (node.length, which);
        }
    }

    fn longer(&mut self, than: u32, byte: u8) -> u32 {
        let new = small(self.nodes.len());
        let Node { child: beside, length, .. } = *self.node(than);
        self.nodes.push(Node { byte, beside, length: length + 1, ..Node::default() });
        self.node_mut(than).child = new;
        new
    }

    fn node(&self, at: u32) -> &Node {
        &self.nodes[at as usize]
    }

    fn node_mut(&mut self, at: u32) -> &mut Node {
        &mut self.nodes[at as usize]
    }

    fn children(&self, of: u32) -> impl Iterator<Item = u32> {
        let first = self.node(of).child;
        std::iter::successors(Some(first), |at| Some(self.node(*at).beside)).take_while(|at| *at != ROOT)
    }

    /// From the shortest beginnings to the longest.
    fn link(&mut self) {
        let mut waiting = VecDeque::from([ROOT]);
        while let Some(at) = waiting.pop_front() {
            let children: Vec<u32> = self.children(at).collect();
            waiting.extend(&children);
            for child in children {
                let (shorter, byte) = (self.node(at).falls_to, self.node(child).byte);
                let falls_to = if at == ROOT { ROOT } else { self.step(shorter, byte) };
                let Node { found, which, .. } = *self.node(falls_to);
                let node = self.node_mut(child);
                node.falls_to = falls_to;
                if node.found == 0 {
                    (node.found, node.which) = (found, which);
                }
            }
        }
    }

    fn child(&self, at: u32, byte: u8) -> Option<u32> {
        self.children(at).find(|child| self.node(*child).byte == byte)
    }

    fn step(&self, mut at: u32, byte: u8) -> u32 {
        loop {
            match self.child(at, byte) {
                Some(next) => return next,
                None if at == ROOT => return ROOT,
                None => at = self.node(at).falls_to,
            }
        }
    }

    /// All of `bytes` with values replaced.
    pub(super) fn replaced(&self, bytes: &[u8]) -> Vec<u8> {
        let (mut passing, mut out) = (Passing::default(), Vec::new());
        passing.push(self, bytes, &mut out);
        passing.finish(self, &mut out);
        out
    }
}

/// Values are bounded far below.
fn small(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// What was seen of one stream.
#[derive(Debug, Default)]
pub(super) struct Passing {
    at: u32,
    /// How many bytes have come.
    came: u64,
    /// How many of them were sent on, or left out.
    done: u64,
    /// Those that were not.
    held: VecDeque<u8>,
    /// Where values are, in order and apart from each other.
    runs: VecDeque<Run>,
}

#[derive(Debug)]
struct Run {
    begin: u64,
    end: u64,
    which: u32,
    /// What stands for it was sent on.
    is_told: bool,
}

impl Passing {
    /// Sends on what can be no part of a value any more.
    pub(super) fn push(&mut self, search: &Search, bytes: &[u8], out: &mut Vec<u8>) {
        for byte in bytes {
            self.at = search.step(self.at, *byte);
            self.came += 1;
            self.held.push_back(*byte);
            let Node { found, which, .. } = *search.node(self.at);
            if found > 0 {
                self.mark(self.came - u64::from(found), which);
            }
        }
        self.release(search, self.came - u64::from(search.node(self.at).length), out);
    }

    /// Nothing more comes.
    pub(super) fn finish(&mut self, search: &Search, out: &mut Vec<u8>) {
        self.release(search, self.came, out);
    }

    /// The same, but for values, which have nothing in their place: whether one has come whole. What only begins like
    /// one by chance is not held back, as the rest of it may come after an answer.
    pub(super) fn push_unless_seen(&mut self, search: &Search, bytes: &[u8], out: &mut Vec<u8>) -> bool {
        for byte in bytes {
            self.at = search.step(self.at, *byte);
            self.came += 1;
            self.held.push_back(*byte);
            if search.node(self.at).found > 0 {
                return true;
            }
        }
        let begun = Some(search.node(self.at).length).filter(|length| *length >= LEAST_HELD);
        self.release(search, self.came - u64::from(begun.unwrap_or(0)), out);
        false
    }

    /// Whether a value has come whole.
    pub(super) fn has_seen(&mut self, search: &Search, bytes: &[u8]) -> bool {
        bytes.iter().any(|byte| {
            self.at = search.step(self.at, *byte);
            search.node(self.at).found > 0
        })
    }

    /// A value reaches from `begin` to what came last. Those that overlap are one.
    fn mark(&mut self, begin: u64, which: u32) {
        while self.runs.back().is_some_and(|last| last.begin >= begin && !last.is_told) {
            self.runs.pop_back();
        }
        match self.runs.back_mut() {
            Some(last) if last.end > begin => last.end = self.came,
            _ => self.runs.push_back(Run { begin, end: self.came, which, is_told: false }),
        }
    }

    fn release(&mut self, search: &Search, until: u64, out: &mut Vec<u8>) {
        while self.done < until {
            let run = self.runs.front_mut().filter(|run| run.begin < until);
            let (to, is_value) = match run {
                None => (until, false),
                Some(run) if run.begin > self.done => (run.begin, false),
                Some(run) => {
                    if !run.is_told {
                        out.extend(&search.stand_ins[run.which as usize]);
                        run.is_told = true;
                    }
                    (run.end.min(until), true)
                }
            };
            let count = usize::try_from(to - self.done).unwrap_or(usize::MAX).min(self.held.len());
            let bytes = self.held.drain(..count);
            if !is_value {
                out.extend(bytes);
            }
            self.done = to;
            while self.runs.front().is_some_and(|run| run.end <= self.done) {
                self.runs.pop_front();
            }
        }
    }
}

#[cfg(test)]
#[path = "search_tests.rs"]
mod tests;

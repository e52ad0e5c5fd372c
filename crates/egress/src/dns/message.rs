//! DNS messages, as little of them as is needed: one question in, addresses out.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

pub(super) const TYPE_A: u16 = 1;
pub(super) const TYPE_AAAA: u16 = 28;
const TYPE_OPT: u16 = 41;
const CLASS_IN: u16 = 1;
const HEADER: usize = 12;
const MOST_RECORDS: usize = 64;

pub(super) const NO_ERROR: u8 = 0;
pub(super) const SERVER_FAILURE: u8 = 2;
pub(super) const NO_SUCH_NAME: u8 = 3;

/// What somebody asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    pub id: u16,
    /// As it was asked, with dots, without the last one.
    pub name: String,
    pub kind: u16,
    pub class: u16,
    pub recursion: bool,
    /// Whether more than an error code can be told (EDNS).
    pub extended: bool,
    /// The question's own bytes, to be sent back as they came.
    asked: Vec<u8>,
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let pair = bytes.get(at..at + 2)?;
    Some(u16::from_be_bytes([pair[0], pair[1]]))
}

/// A plain question with one name. None: not one that can be answered.
#[must_use]
pub fn parse_question(bytes: &[u8]) -> Option<Question> {
    let flags = u16_at(bytes, 2)?;
    // A question, of the ordinary kind; exactly one.
    if flags & 0xf800 != 0 || u16_at(bytes, 4)? != 1 || u16_at(bytes, 6)? != 0 {
        return None;
    }
    let mut name = String::new();
    let mut at = HEADER;
    loop {
        let length = usize::from(*bytes.get(at)?);
        at += 1;
        if length == 0 {
            break;
        }
        // Longer is a pointer, which a question has no use for.
        if length > 63 || name.len() + length > 254 {
            return None;
        }
        if !name.is_empty() {
            name.push('.');
        }
        for byte in bytes.get(at..at + length)? {
            // A dot inside a label would make another name of it.
            name.push(if byte.is_ascii_graphic() && *byte != b'.' { char::from(*byte) } else { '?' });
        }
        at += length;
    }
    let kind = u16_at(bytes, at)?;
    let class = u16_at(bytes, at + 2)?;
    let asked = bytes.get(HEADER..at + 4)?.to_vec();
    // The first additional record, if it is the one of EDNS: no name, then its type.
    let extended = u16_at(bytes, 8)? == 0
        && u16_at(bytes, 10)? >= 1
        && bytes.get(at + 4) == Some(&0)
        && u16_at(bytes, at + 5) == Some(TYPE_OPT);
    Some(Question {
        id: u16_at(bytes, 0)?,
        name,
        kind,
        class,
        recursion: flags & 0x100 != 0,
        extended,
        asked,
    })
}

impl Question {
    pub(super) fn is_for_addresses(&self) -> bool {
        self.class == CLASS_IN
    }

    /// An answer with one address or none; `why` is told to those who can hear it.
    pub(super) fn answer(&self, code: u8, address: Option<Ipv4Addr>, ttl: u32, why: Option<&str>) -> Vec<u8> {
        let mut out = Vec::with_capacity(HEADER + self.asked.len() + 64);
        out.extend(self.id.to_be_bytes());
        let flags = 0x8480 | if self.recursion { 0x100 } else { 0 } | u16::from(code & 0xf);
        out.extend(flags.to_be_bytes());
        let extended = u16::from(self.extended);
        for count in [1, u16::from(address.is_some()), 0, extended] {
            out.extend(count.to_be_bytes());
        }
        out.extend(&self.asked);
        if let Some(address) = address {
            // The name is that of the question, at its place.
            out.extend([0xc0, 0x0c]);
            out.extend(TYPE_A.to_be_bytes());
            out.extend(CLASS_IN.to_be_bytes());
            out.extend(ttl.to_be_bytes());
            out.extend(4_u16.to_be_bytes());
            out.extend(address.octets());
        }
        if self.extended {
            push_extension(&mut out, why);
        }
        out
    }
}

/// EDNS, with an extended error "blocked" (RFC 8914) when there is a reason.
fn push_extension(out: &mut Vec<u8>, why: Option<&str>) {
    const EXTENDED_ERROR: u16 = 15;
    const BLOCKED: u16 = 15;
    out.push(0);
    out.extend(TYPE_OPT.to_be_bytes());
    out.extend(1232_u16.to_be_bytes());
    out.extend([0; 4]);
    let text: Vec<u8> = why.unwrap_or_default().bytes().take(400).collect();
    let Ok(length) = u16::try_from(text.len()) else { return };
    match why {
        None => out.extend(0_u16.to_be_bytes()),
        Some(_) => {
            out.extend((length + 6).to_be_bytes());
            out.extend(EXTENDED_ERROR.to_be_bytes());
            out.extend((length + 2).to_be_bytes());
            out.extend(BLOCKED.to_be_bytes());
            out.extend(text);
        }
    }
}

/// A question of our own, for the addresses of a name.
pub(super) fn ask(id: u16, name: &str, kind: u16) -> Vec<u8> {
    let mut out = Vec::with_capacity(HEADER + name.len() + 6);
    out.extend(id.to_be_bytes());
    out.extend(0x0100_u16.to_be_bytes());
    for count in [1_u16, 0, 0, 0] {
        out.extend(count.to_be_bytes());
    }
    for label in name.split('.') {
        // Names are checked to have labels of at most 63 bytes.
        out.push(u8::try_from(label.len()).unwrap_or(0));
        out.extend(label.bytes());
    }
    out.push(0);
    out.extend(kind.to_be_bytes());
    out.extend(CLASS_IN.to_be_bytes());
    out
}

/// What a name server said: whether it was cut, its code, and the addresses in it. None when it is no answer to
/// `question`, a message made by `ask`.
#[must_use]
pub fn parse_answer(bytes: &[u8], question: &[u8]) -> Option<(bool, u8, Vec<IpAddr>)> {
    let flags = u16_at(bytes, 2)?;
    let asked = question.get(HEADER..)?;
    let echoed = bytes.get(HEADER..HEADER + asked.len())?;
    let ours = bytes.get(..2)? == question.get(..2)?
        && flags & 0x8000 != 0
        && u16_at(bytes, 4)? == 1
        && echoed.eq_ignore_ascii_case(asked);
    if !ours {
        return None;
    }
    let code = u8::try_from(flags & 0xf).ok()?;
    let mut addresses = Vec::new();
    let mut at = HEADER + asked.len();
    for _ in 0..usize::from(u16_at(bytes, 6)?).min(MOST_RECORDS) {
        let Some((address, next)) = record(bytes, at) else { break };
        addresses.extend(address);
        at = next;
    }
    Some((flags & 0x200 != 0, code, addresses))
}

/// One record: its address, if it holds one, and where the next begins. Names are passed over: the server that was
/// asked followed aliases itself, and every address is checked whatever it is called.
fn record(bytes: &[u8], mut at: usize) -> Option<(Option<IpAddr>, usize)> {
    loop {
        match *bytes.get(at)? {
            0 => {
                at += 1;
                break;
            }
            pointer if pointer & 0xc0 == 0xc0 => {
                at += 2;
                break;
            }
            length if length <= 63 => at += 1 + usize::from(length),
            _ => return None,
        }
    }
    let kind = u16_at(bytes, at)?;
    let class = u16_at(bytes, at + 2)?;
    let length = usize::from(u16_at(bytes, at + 8)?);
    let data = bytes.get(at + 10..at + 10 + length)?;
    let address = match (kind, class) {
        (TYPE_A, CLASS_IN) => <[u8; 4]>::try_from(data).ok().map(|four| Ipv4Addr::from(four).into()),
        (TYPE_AAAA, CLASS_IN) => <[u8; 16]>::try_from(data).ok().map(|six| Ipv6Addr::from(six).into()),
        _ => None,
    };
    Some((address, at + 10 + length))
}

#[cfg(test)]
#[path = "message_tests.rs"]
mod tests;

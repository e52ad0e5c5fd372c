//! Reads the name out of the first message of a TLS connection, without touching it.

/// What the first bytes of a connection say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hello {
    /// Not enough yet to say.
    More,
    /// TLS, with the name it asks for, if it names one.
    Tls(Option<String>),
    /// TLS by its first bytes, but no hello that names its host in the one way that every server reads alike.
    Broken,
    /// Something else.
    Other,
}

pub(crate) const CHANGE_OF_CIPHERS: u8 = 20;
pub(crate) const ALERT: u8 = 21;
pub(crate) const HANDSHAKE: u8 = 22;
pub(crate) const HEARTBEAT: u8 = 24;
/// What forgiving servers take for the first half of a version, though every client says 3.
const MOST_VERSION: u8 = 15;
pub(crate) const CLIENT_HELLO: u8 = 1;
const SERVER_NAME: usize = 0;
const EARLY_DATA: usize = 42;
/// Longer hellos are not known to exist; keys of today's algorithms take about two.
pub(crate) const LONGEST: usize = 32 << 10;

/// What counts of one hello.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Said {
    /// The host that it asks for, if it names one.
    pub(crate) name: Option<String>,
    /// Whether it announces data ahead of the handshake.
    pub(crate) early: bool,
}

/// Looks at all that has come so far.
#[must_use]
pub fn read_hello(bytes: &[u8]) -> Hello {
    match bytes {
        [] => return Hello::More,
        [HANDSHAKE, 3, ..] => {}
        _ => return unusual(bytes),
    }
    match gather(bytes) {
        Gathered::More => Hello::More,
        Gathered::Broken => Hello::Broken,
        Gathered::Whole(message) => match read_message(&message) {
            Some(said) => Hello::Tls(said.name),
            None => Hello::Broken,
        },
    }
}

/// What no client begins with and some servers pass over or forgive: a warning before the hello, or a record of
/// another version. A hello may follow that this server would then read and nobody has looked at. Other protocols
/// begin with the same numbers, as the length of a message; so all is compared that such a server would.
fn unusual(bytes: &[u8]) -> Hello {
    match bytes {
        [CHANGE_OF_CIPHERS..=HEARTBEAT] => Hello::More,
        [CHANGE_OF_CIPHERS..=HEARTBEAT, 3, ..] => Hello::Broken,
        [HANDSHAKE, 0..=MOST_VERSION, rest @ ..] => match rest {
            [_, _, _, CLIENT_HELLO, ..] => Hello::Broken,
            [] | [_] | [_, _] | [_, _, _] => Hello::More,
            _ => Hello::Other,
        },
        [ALERT, 0..=MOST_VERSION, rest @ ..] => match rest {
            [] | [_] | [_, 0] | [_, 0, 2] => Hello::More,
            [_, 0, 2, 1 | 2, ..] => Hello::Broken,
            _ => Hello::Other,
        },
        _ => Hello::Other,
    }
}

enum Gathered {
    More,
    Broken,
    Whole(Vec<u8>),
}

/// A message may be spread over several records.
fn gather(mut bytes: &[u8]) -> Gathered {
    let mut message = Vec::new();
    loop {
        if let [CLIENT_HELLO, a, b, c, ..] = message[..] {
            let length = u32::from_be_bytes([0, a, b, c]) as usize;
            if length > LONGEST {
                return Gathered::Broken;
            }
            if message.len() >= 4 + length {
                return Gathered::Whole(message[4..4 + length].to_vec());
            }
        } else if message.first().is_some_and(|kind| *kind != CLIENT_HELLO) {
            return Gathered::Broken;
        }
        let [kind, major, _, high, low, rest @ ..] = bytes else { return Gathered::More };
        let length = usize::from(u16::from_be_bytes([*high, *low]));
        if *kind != HANDSHAKE || *major != 3 || length == 0 || length > 16 << 10 {
            return Gathered::Broken;
        }
        let Some(record) = rest.get(..length) else { return Gathered::More };
        message.extend(record);
        bytes = &rest[length..];
    }
}

/// Takes `count` bytes off the front.
fn take<'a>(bytes: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(taken)
}

fn take_u8(bytes: &mut &[u8]) -> Option<usize> {
    take(bytes, 1).map(|one| usize::from(one[0]))
}

fn take_u16(bytes: &mut &[u8]) -> Option<usize> {
    take(bytes, 2).map(|two| usize::from(u16::from_be_bytes([two[0], two[1]])))
}

/// The message without its head. None: not a hello at all.
pub(crate) fn read_message(mut hello: &[u8]) -> Option<Said> {
    let hello = &mut hello;
    let mut said = Said::default();
    // Version and random; session; cipher suites; compression.
    take(hello, 34)?;
    let session = take_u8(hello)?;
    take(hello, session)?;
    let suites = take_u16(hello)?;
    take(hello, suites)?;
    let compressions = take_u8(hello)?;
    take(hello, compressions)?;
    if hello.is_empty() {
        return Some(said);
    }
    let length = take_u16(hello)?;
    let mut extensions = take(hello, length)?;
    while !extensions.is_empty() {
        let kind = take_u16(&mut extensions)?;
        let length = take_u16(&mut extensions)?;
        let data = take(&mut extensions, length)?;
        said.early |= kind == EARLY_DATA;
        if kind == SERVER_NAME {
            // Two of them could be read as either by the server.
            if said.name.is_some() {
                return None;
            }
            said.name = Some(first_name(data)?);
        }
    }
    Some(said)
}

/// The list has one entry in practice, of the one kind there is: a host's name.
fn first_name(mut data: &[u8]) -> Option<String> {
    let data = &mut data;
    let length = take_u16(data)?;
    let mut list = take(data, length)?;
    if take_u8(&mut list)? != 0 {
        return None;
    }
    let length = take_u16(&mut list)?;
    let name = take(&mut list, length)?;
    if !list.is_empty() || !data.is_empty() {
        return None;
    }
    String::from_utf8(name.to_vec()).ok().filter(|name| name.is_ascii() && !name.is_empty())
}

#[cfg(test)]
#[path = "hello_tests.rs"]
mod tests;

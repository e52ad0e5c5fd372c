//! What follows the first hello of a TLS connection while it is still in the clear. A server that wants another key has
//! the hello sent again, and some servers go by the name in the second one: it must be the name that was checked.

use std::fmt;

use crate::hello::{
    ALERT, CHANGE_OF_CIPHERS, CLIENT_HELLO, HANDSHAKE, HEARTBEAT, LONGEST, Said, read_message,
};

const DATA: u8 = 23;

/// What is to be done about the bytes that follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Look,
    /// No hello in the clear can follow that a server would still take.
    Free,
}

/// A hello that does not name what the first one named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Renamed {
    pub(crate) said: String,
}

impl fmt::Display for Renamed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a second greeting names '{}'", self.said)
    }
}

impl std::error::Error for Renamed {}

/// Reads records from inside, from the first one on, however they are cut. It holds no more than one message.
#[derive(Debug, Default)]
pub(crate) struct Greetings {
    first: Option<Said>,
    /// Of a record's head, what has come of it.
    head: Vec<u8>,
    kind: u8,
    /// Bytes of the record that are to come.
    left: usize,
    message: Vec<u8>,
}

impl Greetings {
    pub(crate) fn read(&mut self, mut bytes: &[u8]) -> Result<Next, Renamed> {
        while let [byte, behind @ ..] = bytes {
            if self.left == 0 {
                bytes = behind;
                if self.begin(*byte)? == Next::Free {
                    return Ok(Next::Free);
                }
                continue;
            }
            let (part, behind) = bytes.split_at(self.left.min(bytes.len()));
            bytes = behind;
            self.left -= part.len();
            if self.kind == HANDSHAKE && self.gather(part)? == Next::Free {
                return Ok(Next::Free);
            }
        }
        Ok(Next::Look)
    }

    /// One byte of a record's head. Its version is not looked at, as not every server does.
    fn begin(&mut self, byte: u8) -> Result<Next, Renamed> {
        self.head.push(byte);
        let [kind, _, _, high, low] = self.head[..] else { return Ok(Next::Look) };
        (self.kind, self.left) = (kind, usize::from(u16::from_be_bytes([high, low])));
        self.head = Vec::new();
        match kind {
            // Of a hello that is too long to be held, one record passes: the last message of a client in TLS 1.2 is
            // encrypted, and may begin like one by chance. No second record follows it.
            HANDSHAKE if self.is_too_long() => Err(unreadable()),
            // Servers pass over the first of these at any time, and over warnings.
            CHANGE_OF_CIPHERS | ALERT | HANDSHAKE | HEARTBEAT => Ok(Next::Look),
            // Data ahead of the handshake is passed over by a server that wants another hello. Who has not
            // announced it sends data only when all hellos are over.
            DATA if self.first.as_ref().is_some_and(|first| first.early) => Ok(Next::Look),
            DATA => Ok(Next::Free),
            _ => Err(unreadable()),
        }
    }

    fn is_too_long(&self) -> bool {
        matches!(self.message[..], [CLIENT_HELLO, a, b, c, ..] if length([a, b, c]) > LONGEST)
    }

    /// Messages may be spread over records, and several be in one.
    fn gather(&mut self, part: &[u8]) -> Result<Next, Renamed> {
        self.message.extend(part);
        loop {
            if self.is_too_long() {
                self.message.truncate(4);
                return Ok(Next::Look);
            }
            let (hello, whole) = match &self.message[..] {
                [CLIENT_HELLO, a, b, c, rest @ ..] => {
                    let length = length([*a, *b, *c]);
                    let Some(hello) = rest.get(..length) else { return Ok(Next::Look) };
                    (hello, 4 + length)
                }
                [] | [CLIENT_HELLO, ..] => return Ok(Next::Look),
                // A server that waits for a hello breaks off at any other message; one that does not, takes none.
                _ => return Ok(Next::Free),
            };
            let said = read_message(hello).ok_or_else(unreadable)?;
            match &self.first {
                Some(first) if first.name != said.name => {
                    return Err(Renamed { said: said.name.unwrap_or_default() });
                }
                Some(_) => {}
                None => self.first = Some(said),
            }
            // Not kept: most connections have one hello and then hold nothing.
            self.message = self.message.split_off(whole);
        }
    }
}

fn length([a, b, c]: [u8; 3]) -> usize {
    u32::from_be_bytes([0, a, b, c]) as usize
}

fn unreadable() -> Renamed {
    Renamed { said: "nothing that can be read".to_owned() }
}

#[cfg(test)]
#[path = "greetings_tests.rs"]
mod tests;

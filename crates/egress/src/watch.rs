//! What is looked at of a connection while its bytes pass.

use std::io;

use crate::first::{Begins, Judged, Speaks, ends_as_request, judge};
use crate::greetings::{Greetings, Next};
use crate::request_line::{has_word, is_blank};

/// Of a line whose end has not come. More need not be held, and would be read anew with each piece.
const MOST_SEEN: usize = 4 << 10;
const FIRST: usize = 1 << 10;
/// Longer than any version.
const LAST: usize = 512;

/// What is still to be looked at of a connection whose bytes pass already.
pub(crate) enum Watch {
    /// It is known to be no request.
    No,
    /// It must not turn out to be a request, whose host could no longer be checked. Holds what has passed of it.
    ForRequests(Vec<u8>),
    /// Nothing may be said where no host can be read.
    ForAnything,
    /// It is TLS, and may send its greeting once more, which must name the same host. Has read what has passed of it.
    ForGreetings(Greetings),
}

impl Watch {
    /// Before `bytes` are sent on. What is refused here the server never has whole.
    pub(crate) fn check(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::No => {}
            Self::ForAnything => return Err(refused()),
            Self::ForRequests(seen) => {
                seen.extend(bytes);
                match judge(seen) {
                    Judged::Begins(Begins::Request | Begins::Anything) if seen.len() > MOST_SEEN => {
                        shorten(seen)?;
                    }
                    Judged::Begins(_) => {}
                    Judged::Clear(Speaks::Other) => *self = Self::No,
                    Judged::Clear(_) | Judged::Broken => return Err(refused()),
                }
            }
            Self::ForGreetings(greetings) => match greetings.read(bytes) {
                Ok(Next::Look) => {}
                Ok(Next::Free) => *self = Self::No,
                Err(renamed) => return Err(io::Error::new(io::ErrorKind::PermissionDenied, renamed)),
            },
        }
        Ok(())
    }

    /// Before the other side hears that no more will come: some servers take that for the end of a line.
    pub(crate) fn end(&self) -> io::Result<()> {
        match self {
            Self::ForRequests(seen) if ends_as_request(seen) => Err(refused()),
            Self::No | Self::ForRequests(_) | Self::ForAnything | Self::ForGreetings(_) => Ok(()),
        }
    }
}

/// Keeps of a long line what it can still become a request by: its first word, and the last, where a version may be.
fn shorten(seen: &mut Vec<u8>) -> io::Result<()> {
    let blank = seen.iter().take_while(|byte| is_blank(**byte) || **byte == b'\n').count();
    seen.drain(..blank);
    // Its version may be anywhere, and would be lost.
    if has_word(seen) && ends_as_request(seen) {
        return Err(refused());
    }
    if seen.len() > FIRST + LAST {
        seen.drain(FIRST..seen.len() - LAST);
    }
    Ok(())
}

fn refused() -> io::Error {
    io::ErrorKind::PermissionDenied.into()
}

#[cfg(test)]
#[path = "watch_tests.rs"]
mod tests;

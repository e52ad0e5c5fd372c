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
/// Longer than a request's line may be with any server, by a lot: Go's takes the most of those that are usual, 1 MiB.
/// What is longer is no request, and need not be looked at for ever.
const LONGEST: usize = 8 << 20;

/// What is still to be looked at of a connection whose bytes pass already.
pub(crate) enum Watch {
    /// It is known to be no request.
    No,
    /// It must not turn out to be a request, whose host could no longer be checked.
    ForRequests(FirstLine),
    /// Nothing may be said where no host can be read.
    ForAnything,
    /// It is TLS, and may send its greeting once more, which must name the same host. Has read what has passed of it.
    ForGreetings(Greetings),
}

/// What has passed of the line that a connection begins with.
pub(crate) struct FirstLine {
    seen: Vec<u8>,
    /// Bytes of it that are not held.
    left_out: usize,
}

impl Watch {
    /// `seen`: what has passed already.
    pub(crate) fn for_requests(seen: Vec<u8>) -> Self {
        Self::ForRequests(FirstLine { seen, left_out: 0 })
    }

    /// Before `bytes` are sent on. What is refused here the server never has whole.
    pub(crate) fn check(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::No => {}
            Self::ForAnything => return Err(refused()),
            Self::ForRequests(line) => {
                line.seen.extend(bytes);
                match judge(&line.seen) {
                    Judged::Begins(Begins::Request | Begins::Anything) if line.seen.len() > MOST_SEEN => {
                        line.shorten()?;
                        if line.left_out > LONGEST {
                            *self = Self::No;
                        }
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
            Self::ForRequests(line) if ends_as_request(&line.seen) => Err(refused()),
            Self::No | Self::ForRequests(_) | Self::ForAnything | Self::ForGreetings(_) => Ok(()),
        }
    }
}

impl FirstLine {
    /// Keeps of a long line what it can still become a request by: its first word, and the last, where a version may be.
    fn shorten(&mut self) -> io::Result<()> {
        let seen = &mut self.seen;
        let blank = seen.iter().take_while(|byte| is_blank(**byte) || **byte == b'\n').count();
        seen.drain(..blank);
        // Its version may be anywhere, and would be lost.
        if has_word(seen) && ends_as_request(seen) {
            return Err(refused());
        }
        if seen.len() > FIRST + LAST {
            self.left_out += seen.len() - LAST - FIRST;
            seen.drain(FIRST..seen.len() - LAST);
        }
        Ok(())
    }
}

fn refused() -> io::Error {
    io::ErrorKind::PermissionDenied.into()
}

#[cfg(test)]
#[path = "watch_tests.rs"]
mod tests;

//! The talk between the server and the agent inside a sandbox: each operation has a connection of its own, and
//! on it frames of length, kind and body. What comes from an agent is hostile.
//!
//! The server opens an operation by one order on the agent's channel, with the far end of a fresh stream socket
//! beside it (for a process with an input, of a second one, which carries the bytes of that input, and back a
//! byte for each new size of its terminal: what is typed after one must not overtake it). Descriptors go in, never out. The first frame on the stream is the [`Request`].

mod words;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use serde::Deserialize;
use serde::de::DeserializeOwned;

pub use words::{Change, End, Entry, Failure, FailureKind, Input, Kind, Request, Size};

/// The descriptor at which the agent finds its channel.
pub const CHANNEL: i32 = 3;
/// What the agent says first, and what each order of the server holds.
pub const READY: &[u8] = b"ready";
pub const OPERATION: &[u8; 1] = b"o";
/// What comes back beside the input of a terminal once it has a new size.
pub const RESIZED: &[u8; 1] = b"r";

/// The longest frame an agent may send; one that announces more is not listened to any further.
pub const MAX_FROM_AGENT: usize = 128 << 10;
/// The longest frame of the server: a command with its arguments and environment, which the kernel bounds anyway.
pub const MAX_TO_AGENT: usize = 4 << 20;
/// Bytes of a file in one frame.
pub const FILE_CHUNK: usize = 64 << 10;
/// Bytes of a process's output in one frame; of a terminal's.
pub const OUTPUT_CHUNK: usize = 32 << 10;
pub const TERMINAL_CHUNK: usize = 16 << 10;
/// Operations at once. Each is a socket and some descriptors of the agent.
pub const MAX_OPERATIONS: usize = 400;

const HEADER: usize = 4;

#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    #[error("a frame of {0} bytes is longer than allowed")]
    TooLong(usize),
    #[error("a frame without a kind")]
    Empty,
    #[error("a frame of unknown kind {0:#04x}")]
    UnknownKind(u8),
    #[error("a frame of kind {kind:#04x} that is not as agreed: {reason}")]
    Malformed { kind: u8, reason: String },
}

/// What an agent says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FromAgent {
    /// It is done, or ready for what comes next.
    Done,
    Failed(Failure),
    Entry(Entry),
    /// A part of a file.
    Data(Bytes),
    Started {
        pid: u32,
    },
    Stdout(Bytes),
    Stderr(Bytes),
    Terminal(Bytes),
    Ended(End),
    Changed {
        name: String,
        change: Change,
    },
}

/// What the server says.
#[derive(Clone, Debug, PartialEq)]
pub enum ToAgent {
    Request(Box<Request>),
    Signal(i32),
    Resize(Size),
    /// A part of a file, and its end. Without the end nothing is written.
    Data(Bytes),
    DataEnd,
    /// Of a watch: to say what happened up to now, and then that it is done.
    UpToNow,
}

#[derive(serde::Serialize, Deserialize)]
struct Started {
    pid: u32,
}

#[derive(serde::Serialize, Deserialize)]
struct Changed {
    name: String,
    change: Change,
}

impl FromAgent {
    #[must_use]
    pub fn encode(&self) -> Bytes {
        match self {
            Self::Done => frame(0x80, &[]),
            Self::Failed(failure) => json_frame(0x81, failure),
            Self::Entry(entry) => json_frame(0x82, entry),
            Self::Data(bytes) => frame(0x83, bytes),
            Self::Started { pid } => json_frame(0x84, &Started { pid: *pid }),
            Self::Stdout(bytes) => frame(0x85, bytes),
            Self::Stderr(bytes) => frame(0x86, bytes),
            Self::Terminal(bytes) => frame(0x87, bytes),
            Self::Ended(end) => json_frame(0x88, end),
            Self::Changed { name, change } => {
                json_frame(0x89, &Changed { name: name.clone(), change: *change })
            }
        }
    }

    /// Takes the next whole frame off the front of `buffer`, if there is one.
    pub fn decode(buffer: &mut BytesMut) -> Result<Option<Self>, FrameError> {
        match next(buffer, MAX_FROM_AGENT)? {
            Some((kind, body)) => Self::parse(kind, body).map(Some),
            None => Ok(None),
        }
    }

    fn parse(kind: u8, body: Bytes) -> Result<Self, FrameError> {
        match kind {
            0x80 => Ok(Self::Done),
            0x81 => json(kind, &body).map(Self::Failed),
            0x82 => json(kind, &body).map(Self::Entry),
            0x83 => Ok(Self::Data(body)),
            0x84 => json::<Started>(kind, &body).map(|started| Self::Started { pid: started.pid }),
            0x85 => Ok(Self::Stdout(body)),
            0x86 => Ok(Self::Stderr(body)),
            0x87 => Ok(Self::Terminal(body)),
            0x88 => json(kind, &body).map(Self::Ended),
            0x89 => json::<Changed>(kind, &body)
                .map(|changed| Self::Changed { name: changed.name, change: changed.change }),
            other => Err(FrameError::UnknownKind(other)),
        }
    }
}

impl ToAgent {
    #[must_use]
    pub fn encode(&self) -> Bytes {
        match self {
            Self::Request(request) => json_frame(0x01, request),
            Self::Signal(signal) => json_frame(0x02, signal),
            Self::Resize(size) => json_frame(0x03, size),
            Self::Data(bytes) => frame(0x04, bytes),
            Self::DataEnd => frame(0x05, &[]),
            Self::UpToNow => frame(0x06, &[]),
        }
    }

    /// Takes the next whole frame off the front of `buffer`, if there is one.
    pub fn decode(buffer: &mut BytesMut) -> Result<Option<Self>, FrameError> {
        let Some((kind, body)) = next(buffer, MAX_TO_AGENT)? else { return Ok(None) };
        let said = match kind {
            0x01 => Self::Request(json(kind, &body)?),
            0x02 => Self::Signal(json(kind, &body)?),
            0x03 => Self::Resize(json(kind, &body)?),
            0x04 => Self::Data(body),
            0x05 => Self::DataEnd,
            0x06 => Self::UpToNow,
            other => return Err(FrameError::UnknownKind(other)),
        };
        Ok(Some(said))
    }
}

fn next(buffer: &mut BytesMut, longest: usize) -> Result<Option<(u8, Bytes)>, FrameError> {
    let Some(header) = buffer.first_chunk::<HEADER>() else { return Ok(None) };
    let length = u32::from_le_bytes(*header) as usize;
    if length > longest {
        return Err(FrameError::TooLong(length));
    }
    if length == 0 {
        return Err(FrameError::Empty);
    }
    if buffer.len() < HEADER + length {
        // All of it at once, so that a long frame is not copied again and again.
        buffer.reserve(HEADER + length - buffer.len());
        return Ok(None);
    }
    buffer.advance(HEADER);
    let mut frame = buffer.split_to(length).freeze();
    let kind = frame.get_u8();
    Ok(Some((kind, frame)))
}

fn json<T: DeserializeOwned>(kind: u8, body: &Bytes) -> Result<T, FrameError> {
    serde_json::from_slice(body).map_err(|error| FrameError::Malformed { kind, reason: error.to_string() })
}

fn json_frame(kind: u8, body: &impl serde::Serialize) -> Bytes {
    // Strings, numbers and lists of them: there is nothing that could not be JSON.
    frame(kind, &serde_json::to_vec(body).unwrap_or_default())
}

fn frame(kind: u8, body: &[u8]) -> Bytes {
    let mut frame = BytesMut::with_capacity(HEADER + 1 + body.len());
    frame.put_u32_le(u32::try_from(body.len() + 1).unwrap_or(u32::MAX));
    frame.put_u8(kind);
    frame.put_slice(body);
    frame.freeze()
}

#[cfg(test)]
#[path = "../protocol_tests.rs"]
mod tests;

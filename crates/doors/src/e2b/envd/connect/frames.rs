//! The pieces of a stream: a byte of flags, four bytes of length, and a message.

use axum::body::{Body, BodyDataStream};
use bytes::{Buf, BufMut, Bytes, BytesMut};
use futures_util::StreamExt;

use super::super::refusal::{Kind, Refusal};
use super::LARGEST_MESSAGE;
use super::codec::{Ask, Codec};

const HEAD: usize = 5;
const COMPRESSED: u8 = 1;
const END: u8 = 2;

pub(super) fn data(message: &[u8]) -> Bytes {
    frame(0, message)
}

/// The last one, with what went wrong if something did.
pub(super) fn end(refusal: Option<&Refusal>) -> Bytes {
    let body = match refusal {
        None => serde_json::json!({}),
        Some(refusal) => serde_json::json!({ "error": refusal.connect_body() }),
    };
    frame(END, body.to_string().as_bytes())
}

fn frame(flags: u8, message: &[u8]) -> Bytes {
    let mut whole = BytesMut::with_capacity(HEAD + message.len());
    whole.put_u8(flags);
    // Messages are bounded far below what four bytes can say.
    whole.put_u32(u32::try_from(message.len()).unwrap_or(u32::MAX));
    whole.put_slice(message);
    whole.freeze()
}

/// The messages of a body as they come.
#[derive(Debug)]
pub(crate) struct Frames {
    body: BodyDataStream,
    codec: Codec,
    buffer: BytesMut,
    ended: bool,
}

impl Frames {
    pub(super) fn new(body: Body, codec: Codec) -> Self {
        Self { body: body.into_data_stream(), codec, buffer: BytesMut::new(), ended: false }
    }

    /// None after the last.
    pub(crate) async fn next<M: Ask>(&mut self) -> Result<Option<M>, Refusal> {
        if self.ended {
            return Ok(None);
        }
        if !self.fill(HEAD).await? {
            if self.buffer.is_empty() {
                return Ok(None);
            }
            return Err(broken_off());
        }
        let flags = self.buffer.get_u8();
        let length = usize::try_from(self.buffer.get_u32()).unwrap_or(usize::MAX);
        if flags & COMPRESSED != 0 {
            let message = "a compressed message, without a header that says how";
            return Err(Refusal::new(Kind::Internal, message));
        }
        if length > LARGEST_MESSAGE {
            let message = format!("a message of {length} bytes; the limit is {LARGEST_MESSAGE}");
            return Err(Refusal::new(Kind::TooLarge, message));
        }
        if !self.fill(length).await? {
            return Err(broken_off());
        }
        let message = self.buffer.split_to(length);
        if flags & END != 0 {
            self.ended = true;
            return Ok(None);
        }
        self.codec.read(&message).map(Some)
    }

    /// Whether there are so many bytes.
    async fn fill(&mut self, wanted: usize) -> Result<bool, Refusal> {
        while self.buffer.len() < wanted {
            match self.body.next().await {
                Some(Ok(piece)) => self.buffer.extend_from_slice(&piece),
                Some(Err(error)) => return Err(Refusal::unreadable(&error)),
                None => return Ok(false),
            }
        }
        Ok(true)
    }
}

fn broken_off() -> Refusal {
    Refusal::invalid("the stream broke off in the middle of a message")
}

#[cfg(test)]
#[path = "frames_tests.rs"]
mod tests;

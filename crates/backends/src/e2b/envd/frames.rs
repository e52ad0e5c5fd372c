//! A stream of the Connect protocol: frames of a flag, a length and JSON.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use serde::Serialize;

use crate::http::{Answer, HttpError};

/// Of one frame: output comes in pieces of some 32 KiB.
const LONGEST: usize = 4 << 20;
const HEAD: usize = 5;
/// The flag of the last frame.
const LAST: u8 = 0x02;

pub(super) fn frame(message: &impl Serialize) -> Result<Bytes, HttpError> {
    let body = serde_json::to_vec(message).map_err(|error| HttpError::Ours(error.to_string()))?;
    let length = u32::try_from(body.len()).map_err(|error| HttpError::Ours(error.to_string()))?;
    let mut frame = BytesMut::with_capacity(HEAD + body.len());
    frame.put_u8(0);
    frame.put_u32(length);
    frame.put_slice(&body);
    Ok(frame.freeze())
}

#[derive(Debug)]
pub(super) enum Frame {
    Message(BytesMut),
    Last(BytesMut),
}

#[derive(Debug)]
pub(super) struct Frames {
    answer: Answer,
    buffer: BytesMut,
}

impl Frames {
    pub(super) fn new(answer: Answer) -> Self {
        Self { answer, buffer: BytesMut::new() }
    }

    /// Can be dropped while it waits: nothing is lost.
    pub(super) async fn next(&mut self) -> Result<Frame, HttpError> {
        loop {
            if let Some(frame) = self.take()? {
                return Ok(frame);
            }
            match self.answer.chunk().await? {
                Some(data) => self.buffer.extend_from_slice(&data),
                None => return Err(HttpError::Broken("in the middle of a stream".to_owned())),
            }
        }
    }

    fn take(&mut self) -> Result<Option<Frame>, HttpError> {
        let Some(head) = self.buffer.first_chunk::<HEAD>() else { return Ok(None) };
        let [flag, length @ ..] = *head;
        let length = usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX);
        if length > LONGEST {
            return Err(HttpError::TooLong { what: "a message", limit: LONGEST });
        }
        if self.buffer.len() < HEAD + length {
            return Ok(None);
        }
        self.buffer.advance(HEAD);
        let body = self.buffer.split_to(length);
        match flag {
            0 => Ok(Some(Frame::Message(body))),
            LAST => Ok(Some(Frame::Last(body))),
            _ => Err(HttpError::Unreadable("a compressed message, which was not asked for".to_owned())),
        }
    }
}

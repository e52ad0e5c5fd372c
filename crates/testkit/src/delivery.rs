//! How an answer reaches the client: piece by piece, slowly, broken off, and whether the client stayed for it.

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use futures_util::stream;

use crate::record::Watch;
use crate::script::Turn;

/// A part of the body that is sent as one event, and whether the model took its time over it.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) bytes: Bytes,
    pub(crate) is_delta: bool,
}

impl Part {
    pub(crate) fn new(bytes: impl Into<Bytes>) -> Self {
        Self { bytes: bytes.into(), is_delta: false }
    }

    pub(crate) fn delta(bytes: impl Into<Bytes>) -> Self {
        Self { bytes: bytes.into(), is_delta: true }
    }
}

#[derive(Clone, Debug)]
enum Step {
    Write(Bytes),
    Sleep(Duration),
    /// Makes the server send what it has before it takes more.
    Flush,
    BreakOff,
}

/// The body that delivers these parts the way the turn says. The watch learns whether it got to the end.
pub(crate) fn body(parts: Vec<Part>, turn: &Turn, watch: Watch) -> Body {
    let steps = steps(parts, turn);
    Body::from_stream(stream::unfold((steps, watch), |(mut steps, mut watch)| async move {
        loop {
            let step = steps.pop_front();
            // Marked before the last bytes leave: a client that has them may close at once.
            if steps.is_empty() {
                watch.over();
            }
            match step? {
                Step::Sleep(time) => tokio::time::sleep(time).await,
                Step::Flush => tokio::task::yield_now().await,
                Step::Write(bytes) => return Some((Ok(bytes), (steps, watch))),
                Step::BreakOff => {
                    // The server drops what it has not written yet when the body fails, so it gets the time to.
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    return Some((Err(io::Error::from(io::ErrorKind::ConnectionAborted)), (steps, watch)));
                }
            }
            if steps.is_empty() {
                return None;
            }
        }
    }))
}

fn steps(parts: Vec<Part>, turn: &Turn) -> VecDeque<Step> {
    let mut steps = VecDeque::new();
    let mut writer = Writer { size: turn.bytes.map(|size| size.max(1)), waiting: Vec::new() };
    let whole = parts.len();
    for part in parts.into_iter().take(turn.cut_after.unwrap_or(whole)) {
        if part.is_delta && turn.delta_delay_ms > 0 {
            steps.push_back(Step::Sleep(Duration::from_millis(turn.delta_delay_ms)));
        }
        writer.write(&part.bytes, &mut steps);
    }
    writer.finish(&mut steps);
    if turn.cut_after.is_some() {
        steps.push_back(Step::BreakOff);
    }
    steps
}

/// Cuts what is written into pieces of one size, across the borders of the parts.
#[derive(Debug)]
struct Writer {
    size: Option<usize>,
    waiting: Vec<u8>,
}

impl Writer {
    fn write(&mut self, bytes: &Bytes, steps: &mut VecDeque<Step>) {
        let Some(size) = self.size else {
            steps.push_back(Step::Write(bytes.clone()));
            return;
        };
        self.waiting.extend_from_slice(bytes);
        while self.waiting.len() >= size {
            let rest = self.waiting.split_off(size);
            let piece = std::mem::replace(&mut self.waiting, rest);
            push_alone(piece, steps);
        }
    }

    fn finish(&mut self, steps: &mut VecDeque<Step>) {
        if !self.waiting.is_empty() {
            push_alone(std::mem::take(&mut self.waiting), steps);
        }
    }
}

fn push_alone(piece: Vec<u8>, steps: &mut VecDeque<Step>) {
    steps.push_back(Step::Flush);
    steps.push_back(Step::Write(piece.into()));
}

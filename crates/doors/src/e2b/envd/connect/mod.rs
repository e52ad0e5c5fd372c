//! The Connect protocol: calls with one answer, calls answered by a stream, and one that is itself a stream.

mod call;
mod codec;
mod frames;
mod stream;

pub(super) use call::{Call, from_stream, to_stream, too_late, unary};
pub(super) use frames::Frames;
pub(super) use stream::Last;

/// The largest message taken: more than anybody would give a program at once.
pub(super) const LARGEST_MESSAGE: usize = 4 << 20;

//! The engine's decoder of frames against anything a hostile kernel could send, in any cuts.
//!
//! The first byte says how many cuts there are, one byte each says how long the pieces are, the rest is
//! what the kernel sends.

#![no_main]

use bytes::BytesMut;
use libfuzzer_sys::fuzz_target;
use sandgate_engine::frame::{FrameError, FromKernel, MAX_FRAME, decode};

const HEADER: usize = 4;

fuzz_target!(|input: &[u8]| {
    let Some((&count, rest)) = input.split_first() else { return };
    let (cuts, sent) = rest.split_at(usize::from(count % 16).min(rest.len()));
    assert_eq!(in_pieces(cuts, sent), in_pieces(&[], sent), "cuts change what is read");
});

/// What the decoder makes of `sent` when it comes in pieces as long as `cuts` say, and then the rest.
fn in_pieces(cuts: &[u8], mut sent: &[u8]) -> Vec<String> {
    let mut buffer = BytesMut::new();
    let mut read = Vec::new();
    for cut in cuts.iter().map(|cut| usize::from(*cut)).chain([usize::MAX]) {
        let (piece, later) = sent.split_at(cut.min(sent.len()));
        sent = later;
        buffer.extend_from_slice(piece);
        if !drain(&mut buffer, &mut read) {
            break;
        }
    }
    read
}

/// Decodes until more bytes are needed (true) or the kernel would be ended (false).
fn drain(buffer: &mut BytesMut, read: &mut Vec<String>) -> bool {
    loop {
        let before = buffer.clone();
        let announced = before.first_chunk::<HEADER>().map(|header| u32::from_le_bytes(*header) as usize);
        let decoded = decode(buffer);
        let taken = before.len() - buffer.len();
        assert_eq!(buffer[..], before[taken..], "what is left is not what came after");
        match &decoded {
            Ok(None) => {
                assert_eq!(taken, 0, "bytes of an unfinished frame were lost");
                assert!(announced.is_none_or(|length| length <= MAX_FRAME && before.len() < HEADER + length));
                return true;
            }
            Ok(Some(frame)) => {
                assert_eq!(Some(taken), announced.map(|length| HEADER + length));
                check(frame, taken);
            }
            Err(FrameError::TooLong(length)) => assert!(taken == 0 && *length > MAX_FRAME),
            Err(FrameError::Empty) => assert!(taken == 0 && announced == Some(0)),
            Err(FrameError::UnknownKind(_) | FrameError::Malformed { .. }) => {
                assert_eq!(Some(taken), announced.map(|length| HEADER + length));
            }
        }
        read.push(format!("{decoded:?}"));
        if decoded.is_err() {
            return false;
        }
    }
}

fn check(frame: &FromKernel, taken: usize) {
    if let FromKernel::Stdout(bytes) | FromKernel::Stderr(bytes) = frame {
        assert_eq!(bytes.len(), taken - HEADER - 1, "output was lost or made up");
    }
}

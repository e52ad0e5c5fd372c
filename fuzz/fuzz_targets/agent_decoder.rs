//! The server's decoder of what an agent says, which a hostile sandbox may have taken over, in any cuts; and the
//! agent's own, against a server that went wrong.
//!
//! The first byte says how many cuts there are, one byte each says how long the pieces are, the rest is what is sent.

#![no_main]

use std::fmt::Debug;

use bytes::BytesMut;
use libfuzzer_sys::fuzz_target;
use sandgate_agent::protocol::{FrameError, FromAgent, MAX_FROM_AGENT, MAX_TO_AGENT, ToAgent};

const HEADER: usize = 4;

type Decode<T> = fn(&mut BytesMut) -> Result<Option<T>, FrameError>;

fuzz_target!(|input: &[u8]| {
    let Some((&count, rest)) = input.split_first() else { return };
    let (cuts, sent) = rest.split_at(usize::from(count % 16).min(rest.len()));
    same_in_any_cuts(FromAgent::decode, MAX_FROM_AGENT, cuts, sent);
    same_in_any_cuts(ToAgent::decode, MAX_TO_AGENT, cuts, sent);
});

fn same_in_any_cuts<T: Debug>(decode: Decode<T>, most: usize, cuts: &[u8], sent: &[u8]) {
    let whole = in_pieces(decode, most, &[], sent);
    assert_eq!(in_pieces(decode, most, cuts, sent), whole, "cuts change what is read");
}

fn in_pieces<T: Debug>(decode: Decode<T>, most: usize, cuts: &[u8], mut sent: &[u8]) -> Vec<String> {
    let (mut buffer, mut read) = (BytesMut::new(), Vec::new());
    for cut in cuts.iter().map(|cut| usize::from(*cut)).chain([usize::MAX]) {
        let (piece, later) = sent.split_at(cut.min(sent.len()));
        sent = later;
        buffer.extend_from_slice(piece);
        loop {
            let before = buffer.clone();
            let announced = before.first_chunk::<HEADER>().map(|header| u32::from_le_bytes(*header) as usize);
            let decoded = decode(&mut buffer);
            let taken = before.len() - buffer.len();
            assert_eq!(buffer[..], before[taken..], "what is left is not what came after");
            match &decoded {
                Ok(None) => {
                    assert_eq!(taken, 0, "bytes of an unfinished frame were lost");
                    assert!(announced.is_none_or(|length| length <= most && before.len() < HEADER + length));
                    break;
                }
                Err(FrameError::TooLong(length)) => assert!(taken == 0 && *length > most),
                Err(FrameError::Empty) => assert!(taken == 0 && announced == Some(0)),
                Ok(Some(_)) | Err(FrameError::UnknownKind(_) | FrameError::Malformed { .. }) => {
                    assert_eq!(Some(taken), announced.map(|length| HEADER + length));
                }
            }
            read.push(format!("{decoded:?}"));
            if decoded.is_err() {
                return read;
            }
        }
    }
    read
}

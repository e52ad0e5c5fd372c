//! Any bytes in any pieces: never a panic, never more memory than announced, always the same frames.

use bytes::{BufMut, BytesMut};
use proptest::prelude::*;

use super::{FrameError, FromKernel, MAX_FRAME, ToKernel, decode};

fn frame(kind: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.put_u32_le(u32::try_from(body.len() + 1).unwrap());
    bytes.push(kind);
    bytes.extend_from_slice(body);
    bytes
}

/// Feeds the pieces one after another and collects what comes out.
fn decode_pieces(pieces: &[&[u8]]) -> Vec<FromKernel> {
    let mut buffer = BytesMut::new();
    let mut frames = Vec::new();
    for piece in pieces {
        buffer.extend_from_slice(piece);
        while let Some(frame) = decode(&mut buffer).unwrap() {
            frames.push(frame);
        }
    }
    assert!(buffer.is_empty());
    frames
}

#[test]
fn every_kind_is_read() {
    let bytes = [
        frame(0x80, b"{}"),
        frame(0x81, b"out"),
        frame(0x83, br#"{"data":{"text/plain":"1"}}"#),
        frame(0x84, br#"{"data":{},"execution_count":3}"#),
        frame(0x85, br#"{"name":"E","value":"v","traceback":["t"]}"#),
        frame(0x86, br#"{"execution_count":3,"status":"error"}"#),
    ]
    .concat();
    let frames = decode_pieces(&[&bytes]);
    assert_eq!(frames.len(), 6);
    assert_eq!(frames[5], FromKernel::Done { execution_count: 3, failed: true });
}

#[test]
fn hostile_frames_are_refused_before_they_cost_memory() {
    let read = |bytes: &[u8]| decode(&mut BytesMut::from(bytes)).unwrap_err();
    assert!(matches!(read(&u32::MAX.to_le_bytes()), FrameError::TooLong(_)));
    assert!(matches!(read(&[0, 0, 0, 0]), FrameError::Empty));
    assert!(matches!(read(&frame(0x7f, b"")), FrameError::UnknownKind(0x7f)));
    assert!(matches!(read(&frame(0x86, b"{\"execution_count\":-1}")), FrameError::Malformed { .. }));
    let deep = [b"{\"data\":".as_slice(), &b"[".repeat(5000)].concat();
    assert!(matches!(read(&frame(0x83, &deep)), FrameError::Malformed { .. }));
    assert!(MAX_FRAME < u32::MAX as usize);
}

#[test]
fn a_huge_value_that_is_not_text_is_left_out_and_counted() {
    let numbers = format!("[{}1]", "0,".repeat(1 << 20));
    let body = format!(r#"{{"data":{{"application/json":{numbers},"text/plain":"kept"}}}}"#);
    let frames = decode_pieces(&[&frame(0x83, body.as_bytes())]);
    let FromKernel::Display(shown) = &frames[0] else { panic!("{frames:?}") };
    assert_eq!(shown.data.keys().collect::<Vec<_>>(), ["text/plain"]);
    assert_eq!(shown.left_out, numbers.len() as u64);
}

#[test]
fn code_survives_encoding() {
    let code = "print('ä\\n\u{0}\u{1F600}')";
    let bytes = ToKernel::Execute { code, env: &[], chart_data: false }.encode().unwrap();
    let body: serde_json::Value = serde_json::from_slice(&bytes[5..]).unwrap();
    assert_eq!(body, serde_json::json!({ "code": code }));
    assert_eq!(u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize, bytes.len() - 4);
}

#[test]
fn what_one_run_has_for_itself_goes_with_its_code() {
    let env = [("A".to_owned(), "1".to_owned()), ("A".to_owned(), "2".to_owned())];
    let bytes = ToKernel::Execute { code: "x", env: &env, chart_data: true }.encode().unwrap();
    let body: serde_json::Value = serde_json::from_slice(&bytes[5..]).unwrap();
    assert_eq!(body, serde_json::json!({ "code": "x", "env": { "A": "2" }, "chart_data": true }));
}

proptest! {
    #[test]
    fn cuts_do_not_matter(
        bodies in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 1..10),
        cuts in prop::collection::vec(0usize..3000, 0..20),
    ) {
        let bytes: Vec<u8> = bodies.iter().flat_map(|body| frame(0x81, body)).collect();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut % (bytes.len() + 1)).collect();
        cuts.push(0);
        cuts.push(bytes.len());
        cuts.sort_unstable();
        let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
        let expected: Vec<_> = bodies.into_iter().map(|body| FromKernel::Stdout(body.into())).collect();
        prop_assert_eq!(decode_pieces(&pieces), expected);
    }

    #[test]
    fn noise_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..500)) {
        let mut buffer = BytesMut::from(bytes.as_slice());
        while let Ok(Some(_)) = decode(&mut buffer) {}
    }
}

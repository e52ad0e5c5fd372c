//! Both directions, and whatever bytes an agent may send.

use std::collections::BTreeMap;

use bytes::{Bytes, BytesMut};
use proptest::prelude::*;

use super::*;

fn entry() -> Entry {
    Entry {
        path: "/tmp/ä".into(),
        kind: Kind::File,
        is_link: true,
        link_target: Some("/tmp/b".into()),
        size: u64::MAX,
        mode: 0o644,
        uid: 1000,
        gid: 0,
        modified_ms: -1,
        attributes: BTreeMap::from([("key".into(), "value".into())]),
    }
}

#[test]
fn what_an_agent_says_comes_across() {
    let all = [
        FromAgent::Done,
        FromAgent::Failed(Failure { kind: FailureKind::NoSpace, text: "full".into() }),
        FromAgent::Entry(entry()),
        FromAgent::Data(Bytes::from_static(b"\0data")),
        FromAgent::Started { pid: 7 },
        FromAgent::Stdout(Bytes::new()),
        FromAgent::Stderr(Bytes::from_static(b"e")),
        FromAgent::Terminal(Bytes::from_static(b"t")),
        FromAgent::Ended(End::Signalled(9)),
        FromAgent::Changed { name: "a/b".into(), change: Change::Renamed },
    ];
    let mut buffer = BytesMut::new();
    all.iter().for_each(|said| buffer.extend_from_slice(&said.encode()));
    for said in all {
        assert_eq!(FromAgent::decode(&mut buffer).unwrap(), Some(said));
    }
    assert_eq!(FromAgent::decode(&mut buffer).unwrap(), None);
}

#[test]
fn what_the_server_says_comes_across() {
    let start = Request::Start {
        program: "sh".into(),
        args: vec!["-c".into(), String::new()],
        env: vec![("A".into(), "b".into())],
        cwd: "/".into(),
        input: Input::Terminal(Size { columns: 80, rows: 24 }),
    };
    let all = [
        ToAgent::Request(Box::new(start)),
        ToAgent::Signal(15),
        ToAgent::Resize(Size { columns: 1, rows: 2 }),
        ToAgent::Data(Bytes::from_static(b"x")),
        ToAgent::DataEnd,
    ];
    let mut buffer = BytesMut::new();
    all.iter().for_each(|said| buffer.extend_from_slice(&said.encode()));
    for said in all {
        assert_eq!(ToAgent::decode(&mut buffer).unwrap(), Some(said));
    }
    assert!(buffer.is_empty());
}

#[test]
fn half_a_frame_waits_for_its_rest() {
    let whole = FromAgent::Entry(entry()).encode();
    let mut buffer = BytesMut::from(&whole[..whole.len() - 1]);
    assert_eq!(FromAgent::decode(&mut buffer).unwrap(), None);
    buffer.extend_from_slice(&whole[whole.len() - 1..]);
    assert_eq!(FromAgent::decode(&mut buffer).unwrap(), Some(FromAgent::Entry(entry())));
}

#[test]
fn a_frame_that_announces_too_much_is_refused_before_it_comes() {
    let mut buffer = BytesMut::new();
    buffer.put_u32_le(u32::try_from(MAX_FROM_AGENT + 1).unwrap());
    assert!(matches!(FromAgent::decode(&mut buffer), Err(FrameError::TooLong(_))));
}

#[test]
fn all_chunks_fit_a_frame() {
    let largest = [FILE_CHUNK, OUTPUT_CHUNK, TERMINAL_CHUNK].into_iter().max().unwrap();
    assert!(largest + HEADER < MAX_FROM_AGENT);
}

proptest! {
    #[test]
    fn any_bytes_are_a_frame_an_error_or_not_enough(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let mut buffer = BytesMut::from(&bytes[..]);
        while let Ok(Some(_)) = FromAgent::decode(&mut buffer) {}
        prop_assert!(buffer.len() <= bytes.len());
    }

    #[test]
    fn any_body_of_any_kind_is_read_or_refused(
        kind in 0x7fu8..0x8c,
        body in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        let mut buffer = BytesMut::from(&frame(kind, &body)[..]);
        let said = FromAgent::decode(&mut buffer);
        prop_assert!(buffer.is_empty());
        if let Ok(Some(FromAgent::Stdout(got))) = said {
            prop_assert_eq!(&got[..], &body[..]);
        }
    }

    #[test]
    fn cuts_do_not_matter(text in ".{0,200}", cut in 0usize..400) {
        let said = FromAgent::Changed { name: text, change: Change::Created };
        let whole = said.encode();
        let cut = cut.min(whole.len() - 1);
        let mut buffer = BytesMut::from(&whole[..cut]);
        prop_assert!(FromAgent::decode(&mut buffer).unwrap().is_none());
        buffer.extend_from_slice(&whole[cut..]);
        prop_assert_eq!(FromAgent::decode(&mut buffer).unwrap(), Some(said));
    }
}

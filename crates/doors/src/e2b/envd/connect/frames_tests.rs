use futures_util::stream;

use super::super::super::double::frame;
use super::super::super::messages::filesystem::PathRequest;
use super::*;

/// The body comes a byte at a time.
fn frames(bytes: Vec<u8>) -> Frames {
    let pieces = bytes.into_iter().map(|byte| Ok::<_, std::io::Error>(Bytes::from(vec![byte])));
    Frames::new(Body::from_stream(stream::iter(pieces)), Codec::Json)
}

#[tokio::test]
async fn messages_come_one_by_one_however_they_were_cut() {
    let mut frames = frames([frame(0, br#"{"path":"a"}"#), frame(0, b"{}")].concat());
    assert_eq!(frames.next::<PathRequest>().await.unwrap().unwrap().path, "a");
    assert_eq!(frames.next::<PathRequest>().await.unwrap().unwrap().path, "");
    assert!(frames.next::<PathRequest>().await.unwrap().is_none());
}

#[tokio::test]
async fn nothing_is_read_after_the_end() {
    let mut frames = frames([frame(END, b"{}"), frame(0, b"{}")].concat());
    assert!(frames.next::<PathRequest>().await.unwrap().is_none());
    assert!(frames.next::<PathRequest>().await.unwrap().is_none());
}

#[tokio::test]
async fn what_is_too_long_broken_or_packed_is_refused() {
    let long = [&[0], &u32::MAX.to_be_bytes()[..]].concat();
    let rows = [
        (long, Kind::TooLarge),
        (frame(0, b"{}")[..6].to_vec(), Kind::Invalid),
        (vec![0, 0], Kind::Invalid),
        (frame(COMPRESSED, b"{}"), Kind::Internal),
        (frame(0, b"{"), Kind::Invalid),
    ];
    for (bytes, kind) in rows {
        let refusal = frames(bytes).next::<PathRequest>().await.unwrap_err();
        assert_eq!(refusal.kind, kind, "{refusal}");
    }
}

#[test]
fn the_last_frame_says_how_it_went() {
    assert_eq!(end(None)[..], frame(2, b"{}"));
    let refusal = Refusal::new(Kind::TooLate, "late");
    let told = br#"{"error":{"code":"deadline_exceeded","message":"late"}}"#;
    assert_eq!(end(Some(&refusal))[..], frame(2, told));
}

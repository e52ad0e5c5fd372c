//! Slow readers, those who left, and several at once.

use bytes::Bytes;
use sandgate_core::ProcessEvent;
use tokio::sync::mpsc;

use super::Readers;

fn said(text: &'static str) -> ProcessEvent {
    ProcessEvent::Stdout(Bytes::from_static(text.as_bytes()))
}

#[tokio::test(start_paused = true)]
async fn one_alone_may_be_as_slow_as_it_likes() {
    let (sender, mut reader) = mpsc::channel(1);
    let mut readers = Readers::default();
    readers.add(sender);
    readers.begin(said("a"));
    readers.pass().await;
    readers.begin(said("b"));
    let hour = std::time::Duration::from_secs(3600);
    assert!(tokio::time::timeout(hour, readers.pass()).await.is_err());
    assert_eq!(reader.recv().await, Some(said("a")));
    readers.pass().await;
    assert_eq!(reader.recv().await, Some(said("b")));
}

#[tokio::test(start_paused = true)]
async fn a_slow_one_beside_another_is_let_go_of() {
    let (slow, mut slow_reader) = mpsc::channel(1);
    let (fast, mut fast_reader) = mpsc::channel(8);
    let mut readers = Readers::default();
    readers.add(slow);
    readers.add(fast);
    for text in ["a", "b", "c"] {
        readers.begin(said(text));
        readers.pass().await;
    }
    readers.finish(None);
    assert_eq!(slow_reader.recv().await, Some(said("a")));
    assert_eq!(slow_reader.recv().await, None);
    for text in ["a", "b", "c"] {
        assert_eq!(fast_reader.recv().await, Some(said(text)));
    }
}

#[tokio::test]
async fn nobody_is_no_reason_to_wait() {
    let mut readers = Readers::default();
    readers.begin(said("a"));
    readers.pass().await;
    let (sender, receiver) = mpsc::channel(1);
    readers.add(sender);
    drop(receiver);
    readers.begin(said("b"));
    readers.pass().await;
    assert!(!readers.is_passing());
}

#[tokio::test(start_paused = true)]
async fn those_who_left_make_room_and_there_are_only_so_many() {
    let mut readers = Readers::default();
    let (first, mut first_reader) = mpsc::channel(8);
    let (leaving, left) = mpsc::channel(8);
    readers.add(leaving);
    readers.add(first);
    readers.begin(said("a"));
    drop(left);
    let mut kept = Vec::new();
    for _ in 0..super::MOST {
        let (sender, reader) = mpsc::channel(8);
        readers.add(sender);
        kept.push(reader);
    }
    readers.pass().await;
    readers.finish(None);
    assert_eq!(first_reader.recv().await, Some(said("a")));
    let (last, others) = kept.split_last_mut().unwrap();
    assert_eq!(last.recv().await, None, "one too many");
    for reader in others {
        assert_eq!(reader.recv().await, Some(said("a")));
        assert_eq!(reader.recv().await, None);
    }
}

//! A page is there for who reads it, however slowly, and for nobody else.

use std::time::Duration;

use bytes::Bytes;

use super::{MOST, PATIENCE, Room, Unread};

#[tokio::test(start_paused = true)]
async fn who_does_not_read_loses_the_page_and_gives_its_room_back() {
    let room = Room::default();
    let unread = Unread::new(Bytes::from_static(b"page"), room.take(MOST << 10).await);
    let others = room.clone();
    let waiting = tokio::spawn(async move { others.take(1).await });
    tokio::time::sleep(PATIENCE / 2).await;
    assert!(!waiting.is_finished(), "there is no room beside it");
    tokio::time::sleep(PATIENCE).await;
    assert!(waiting.await.unwrap().is_some());
    assert!(unread.next(2).unwrap().is_err());
}

#[tokio::test(start_paused = true)]
async fn who_reads_slowly_gets_all_of_it() {
    let unread = Unread::new(Bytes::from_static(b"page"), None);
    for part in [&b"pa"[..], b"ge"] {
        tokio::time::sleep(PATIENCE - Duration::from_secs(1)).await;
        unread.touch();
        assert_eq!(unread.next(2).unwrap().unwrap(), part);
    }
    assert!(unread.next(2).is_none());
}

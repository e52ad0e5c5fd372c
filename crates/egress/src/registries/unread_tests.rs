//! A page is there for who reads it, and for nobody else; one sandbox's pages are not in another's way.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::Semaphore;

use super::{LONGEST_WAIT, MOST, MOST_OF_ONE, PATIENCE, Room, SLOWEST, Unread};

fn share() -> Arc<Semaphore> {
    Arc::new(Semaphore::new(MOST_OF_ONE))
}

#[tokio::test(start_paused = true)]
async fn who_does_not_read_loses_the_page_and_gives_its_room_back() {
    let (room, share) = (Room::default(), share());
    let taken = room.take(&share, MOST_OF_ONE << 10).await.unwrap();
    let unread = Unread::new(Bytes::from_static(b"page"), Some(taken));
    let others = (room.clone(), Arc::clone(&share));
    let waiting = tokio::spawn(async move { others.0.take(&others.1, 1).await });
    tokio::time::sleep(PATIENCE / 2).await;
    assert!(!waiting.is_finished(), "its share is taken");
    tokio::time::sleep(PATIENCE).await;
    assert!(waiting.await.unwrap().is_ok());
    assert!(unread.next(2).unwrap().is_err());
}

#[tokio::test(start_paused = true)]
async fn who_has_no_share_left_keeps_nobody_else_waiting() {
    let (room, greedy) = (Room::default(), share());
    let mut taken = Vec::new();
    taken.push(room.take(&greedy, MOST_OF_ONE << 10).await.unwrap());
    for _ in 0..100 {
        let (room, greedy) = (room.clone(), Arc::clone(&greedy));
        tokio::spawn(async move { room.take(&greedy, MOST_OF_ONE << 10).await });
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    for _ in 0..MOST / MOST_OF_ONE - 1 {
        taken.push(room.take(&share(), usize::MAX).await.unwrap());
    }
    let began = tokio::time::Instant::now();
    let (status, why) = room.take(&share(), 1).await.unwrap_err();
    assert_eq!((status.as_u16(), began.elapsed()), (503, LONGEST_WAIT), "{why}");
}

#[tokio::test(start_paused = true)]
async fn who_reads_slowly_gets_all_of_it() {
    let unread = Unread::new(Bytes::from_static(b"page"), None);
    for part in [&b"pa"[..], b"ge"] {
        tokio::time::sleep(PATIENCE / 3).await;
        unread.touch();
        assert_eq!(unread.next(2).unwrap().unwrap(), part);
    }
    assert!(unread.next(2).is_none());
}

#[tokio::test(start_paused = true)]
async fn who_reads_so_slowly_that_it_never_ends_does_not() {
    let unread = Unread::new(vec![b'x'; 100 * SLOWEST].into(), None);
    for _ in 0..250 {
        tokio::time::sleep(Duration::from_secs(1)).await;
        unread.touch();
        if unread.next(SLOWEST / 4).unwrap().is_err() {
            return;
        }
    }
    panic!("it goes on and on");
}

//! Those who leave end their work, and nobody takes the place of work that goes on.

use std::time::Duration;

use sandgate_core::Owner;

use super::super::expression::sample;
use super::*;

/// Takes as long to read as reading may take.
fn slow() -> Facts {
    let mut facts = sample();
    facts.language = "python".to_owned();
    facts.code = "\\\n".repeat(2_000_000);
    facts
}

fn owner(name: &str) -> Owner {
    Owner::from_stored(name.to_owned())
}

#[tokio::test]
async fn one_owner_leaves_room_for_others() {
    let judging = Judging::with_room(2);
    let first = judging.owners.take(&owner("ann"), Some(judging.share)).unwrap();
    let ann = owner("ann");
    let mut second = std::pin::pin!(judging.judge(&ann, Arc::default(), sample()));
    assert!(futures_util::poll!(second.as_mut()).is_pending());
    assert!(judging.judge(&owner("bob"), Arc::default(), sample()).await.is_ok());
    assert!(futures_util::poll!(second.as_mut()).is_pending());
    drop(first);
    assert!(second.await.is_ok());
}

#[tokio::test]
async fn whoever_leaves_ends_the_work_which_holds_its_place_to_the_end() {
    let judging = Arc::new(Judging::with_room(2));
    let judge = Arc::clone(&judging);
    let work = tokio::spawn(async move { judge.judge(&owner("ann"), Arc::default(), slow()).await });
    while judging.room.available_permits() == 2 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    work.abort();
    while judging.room.available_permits() < 2 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert!(!judging.owners.are_taken(&owner("ann"), Some(1)));
}

#[test]
fn reading_ends_when_nobody_waits_for_it() {
    let left = AtomicBool::new(true);
    let read = super::super::imports::imports("python", &slow().code, &left);
    assert_eq!(read, Err(super::super::imports::Unreadable::Left));
}

//! Shares are counted by owner, given back when dropped, and can be waited for.

use super::*;

#[test]
fn each_owner_has_its_own_and_gives_them_back() {
    let shares = Shares::default();
    let (ann, bob) = (Owner::of_key("ann"), Owner::of_key("bob"));
    let first = shares.take(&ann, Some(1)).unwrap();
    assert!(shares.take(&ann, Some(1)).is_none() && shares.are_taken(&ann, Some(1)));
    assert!(shares.take(&bob, Some(1)).is_some());
    // Without a bound it is counted all the same.
    let second = shares.take(&ann, None).unwrap();
    assert!(shares.take(&ann, Some(2)).is_none());
    drop((first, second));
    assert!(shares.take(&ann, Some(1)).is_some());
    assert!(shares.take(&ann, Some(0)).is_none());
    assert!(shares.0.lock().is_empty());
}

#[tokio::test]
async fn who_waits_gets_what_is_given_back() {
    let shares = Shares::default();
    let ann = Owner::of_key("ann");
    let held = shares.take(&ann, Some(1)).unwrap();
    let waiting = tokio::spawn({
        let (shares, ann) = (shares.clone(), ann.clone());
        async move { shares.wait(&ann, Some(1)).await }
    });
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished());
    drop(held);
    waiting.await.unwrap();
}

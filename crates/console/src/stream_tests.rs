//! Who reads slowly makes the code wait, before much has gathered.

use super::*;

#[tokio::test]
async fn what_waits_is_bounded_by_its_bytes() {
    let (sender, mut receiver) = mpsc::channel(AHEAD);
    let teller = Teller(sender, Arc::new(Semaphore::new(AHEAD_BYTES)));
    let large = "x".repeat(AHEAD_BYTES / 2);
    teller.tell_text(large.clone()).await.unwrap();
    teller.tell_text(large.clone()).await.unwrap();
    let third = teller.tell_text(large.clone());
    let mut third = std::pin::pin!(third);
    assert!(tokio::time::timeout(Duration::from_millis(50), &mut third).await.is_err(), "it waits");
    drop(receiver.recv().await.unwrap());
    third.await.unwrap();
    // One that is larger than all the room still comes through, alone.
    let (sender, mut receiver) = mpsc::channel(AHEAD);
    let teller = Teller(sender, Arc::new(Semaphore::new(AHEAD_BYTES)));
    teller.tell_text("x".repeat(2 * AHEAD_BYTES)).await.unwrap();
    assert_eq!(receiver.recv().await.unwrap().0.len(), 2 * AHEAD_BYTES);
}

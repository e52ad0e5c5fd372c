//! A passed response has one owner.

use crate::testing::{ann, bob, store};

#[tokio::test]
async fn who_was_first_is_the_owner() {
    let (_home, store) = store().await;
    assert!(!store.has_passed_response(&ann(), "resp_1").await.unwrap());
    store.note_passed_response(&ann(), "resp_1").await.unwrap();
    store.note_passed_response(&bob(), "resp_1").await.unwrap();
    assert!(store.has_passed_response(&ann(), "resp_1").await.unwrap());
    assert!(!store.has_passed_response(&bob(), "resp_1").await.unwrap());
}

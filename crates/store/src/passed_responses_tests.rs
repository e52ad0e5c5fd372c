//! A passed response has one owner and one place.

use super::PassedTo;
use crate::testing::{ann, bob, store};

fn to(upstream: &str, model: Option<&str>) -> PassedTo {
    PassedTo { upstream: Some(upstream.to_owned()), model: model.map(str::to_owned) }
}

#[tokio::test]
async fn who_was_first_is_the_owner() {
    let (_home, store) = store().await;
    assert_eq!(store.passed_response(&ann(), "resp_1").await.unwrap(), None);
    store.note_passed_response(&ann(), "resp_1", &to("a", Some("m"))).await.unwrap();
    store.note_passed_response(&bob(), "resp_1", &to("b", None)).await.unwrap();
    assert_eq!(store.passed_response(&ann(), "resp_1").await.unwrap(), Some(to("a", Some("m"))));
    assert_eq!(store.passed_response(&bob(), "resp_1").await.unwrap(), None);
}

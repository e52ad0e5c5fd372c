//! Events of background responses.

use crate::StoreError;
use crate::testing::{ann, response, store};

#[tokio::test]
async fn events_are_read_from_anywhere() {
    let (_home, store) = store().await;
    store.save_response(&response("resp_1", &ann()), &[], &[]).await.unwrap();
    let events: Vec<_> = (0..10).map(|number| (number, format!("event {number}"))).collect();
    store.append_events("resp_1", &events[..6]).await.unwrap();
    store.append_events("resp_1", &events[4..]).await.unwrap();
    assert_eq!(store.events_after("resp_1", None).await.unwrap(), events);
    assert_eq!(store.events_after("resp_1", Some(0)).await.unwrap(), events[1..]);
    assert_eq!(store.events_after("resp_1", Some(7)).await.unwrap(), events[8..]);
    assert_eq!(store.events_after("resp_1", Some(u64::MAX)).await.unwrap(), []);
}

#[tokio::test]
async fn events_need_their_response() {
    let (_home, store) = store().await;
    let appended = store.append_events("resp_1", &[(0, String::new())]).await;
    assert!(matches!(appended, Err(StoreError::NotFound)));
    assert!(matches!(store.events_after("resp_1", None).await, Err(StoreError::NotFound)));
}

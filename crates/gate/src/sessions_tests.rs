//! Which session a request names, and who waits for whom.

use sandgate_core::Owner;
use serde_json::{Value, json};

use super::{MANY_LOCKS, SessionLocks, session_in};

fn session(body: &Value) -> Option<String> {
    session_in(body.as_object().unwrap())
}

#[test]
fn a_session_is_named_in_either_place() {
    let one = session(&json!({"metadata": {"session_id": "a"}})).unwrap();
    assert_eq!(session(&json!({"litellm_metadata": {"session_id": "a"}})), Some(one.clone()));
    let both = json!({"metadata": {"session_id": "a"}, "litellm_metadata": {"session_id": "b"}});
    assert_eq!(session(&both), Some(one.clone()));
    assert_ne!(session(&json!({"metadata": {"session_id": "b"}})), Some(one));
    let long = session(&json!({"metadata": {"session_id": "x".repeat(1 << 20)}})).unwrap();
    assert_eq!(long.len(), 32);
    for none in [
        json!({}),
        json!({"metadata": null}),
        json!({"metadata": {"session_id": ""}}),
        json!({"metadata": {"session_id": 5}}),
        json!({"metadata": "session_id"}),
    ] {
        assert_eq!(session(&none), None, "{none}");
    }
}

#[tokio::test]
async fn those_of_one_session_wait_for_each_other_and_no_lock_is_left() {
    let (locks, owner) = (SessionLocks::default(), Owner::anonymous());
    let held = locks.lock(&owner, "a").await;
    assert!(locks.of(&owner, "a").try_lock().is_err());
    let _other = locks.lock(&owner, "b").await;
    drop(held);
    assert!(locks.of(&owner, "a").try_lock().is_ok());
    for number in 0..MANY_LOCKS * 2 {
        locks.lock(&owner, &number.to_string()).await;
    }
    assert!(locks.0.lock().unwrap().len() <= MANY_LOCKS + 2);
}

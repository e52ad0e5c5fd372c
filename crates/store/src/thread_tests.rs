//! Jobs that panic, and callers that do not wait.

use crate::testing::{ann, count, response, store};
use crate::{Result, StoreError};

#[tokio::test]
async fn a_job_that_panics_is_taken_back_and_the_next_one_runs() {
    let (_home, store) = store().await;
    let failed: Result<()> = store
        .write(|transaction| {
            transaction.execute("INSERT INTO containers (id, owner, record) VALUES ('a', 'b', '{}')", [])?;
            panic!("on purpose")
        })
        .await;
    assert!(matches!(failed, Err(StoreError::Panicked)));
    assert_eq!(count(&store, "containers").await, 0);
    store.save_response(&response("resp_1", &ann()), &[], &[]).await.unwrap();
}

#[tokio::test]
async fn a_job_that_fails_is_taken_back() {
    let (_home, store) = store().await;
    let failed: Result<()> = store
        .write(|transaction| {
            transaction.execute("INSERT INTO containers (id, owner, record) VALUES ('a', 'b', '{}')", [])?;
            Err(StoreError::NotFound)
        })
        .await;
    assert!(matches!(failed, Err(StoreError::NotFound)));
    assert_eq!(count(&store, "containers").await, 0);
}

#[tokio::test]
async fn a_job_is_done_although_its_caller_went_away() {
    let (_home, store) = store().await;
    let (started, has_started) = tokio::sync::oneshot::channel();
    let waiting = store.clone();
    let caller = tokio::spawn(async move {
        waiting
            .write(move |transaction| {
                started.send(()).unwrap();
                std::thread::sleep(std::time::Duration::from_millis(50));
                let text = "INSERT INTO containers (id, owner, record) VALUES ('a', 'b', '{}')";
                Ok(transaction.execute(text, [])?)
            })
            .await
    });
    has_started.await.unwrap();
    caller.abort();
    assert_eq!(count(&store, "containers").await, 1);
}

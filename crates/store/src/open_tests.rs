//! Opening, reopening, dying in the middle, and many callers at once.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::testing::{after, ann, bob, count, item, response, store};
use crate::{Store, StoreError};

#[tokio::test]
async fn what_was_saved_is_there_after_reopening() {
    let (home, store) = store().await;
    store.save_response(&response("resp_1", &ann()), &[item("msg_1")], &[item("msg_2")]).await.unwrap();
    drop(store);
    let store = Store::open(home.path()).await.unwrap();
    assert_eq!(store.response(&ann(), "resp_1").await.unwrap(), response("resp_1", &ann()));
    assert_eq!(store.history(&ann(), "resp_1").await.unwrap().0, [item("msg_1"), item("msg_2")]);
}

#[tokio::test]
async fn only_the_owner_of_the_home_can_read_it() {
    let (home, _store) = store().await;
    let mode = |name: &str| home.path().join(name).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("sandgate.db"), 0o600);
    assert_eq!(mode("sandgate.db-wal"), 0o600);
    assert_eq!(mode("files"), 0o700);
}

#[tokio::test]
async fn foreign_keys_and_the_log_are_on() {
    let (_home, store) = store().await;
    let pragmas = store.read(|transaction| {
        let keys: bool = transaction.pragma_query_value(None, "foreign_keys", |row| row.get(0))?;
        let journal: String = transaction.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
        Ok((keys, journal))
    });
    assert_eq!(pragmas.await.unwrap(), (true, "wal".to_owned()));
}

#[tokio::test]
async fn a_newer_database_is_refused_and_left_as_it_is() {
    let (home, store) = store().await;
    store.save_response(&response("resp_1", &ann()), &[], &[]).await.unwrap();
    drop(store);
    let raw = rusqlite::Connection::open(home.path().join("sandgate.db")).unwrap();
    raw.pragma_update(None, "user_version", 4711).unwrap();
    let refused = Store::open(home.path()).await.unwrap_err();
    assert!(matches!(refused, StoreError::Newer { found: 4711, .. }), "{refused}");
    assert!(refused.to_string().contains("4711"), "{refused}");
    let left: i64 = raw.query_row("SELECT count(*) FROM responses", [], |row| row.get(0)).unwrap();
    assert_eq!(left, 1);
}

#[tokio::test]
async fn a_file_that_is_no_database_is_an_error() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("sandgate.db"), "no database, but long enough to look at".repeat(9))
        .unwrap();
    assert!(matches!(Store::open(home.path()).await, Err(StoreError::Sqlite(_))));
}

#[tokio::test]
async fn a_second_store_on_the_same_home_works_beside_the_first() {
    let (home, first) = store().await;
    let second = Store::open(home.path()).await.unwrap();
    first.save_response(&response("resp_1", &ann()), &[], &[]).await.unwrap();
    second.save_response(&response("resp_2", &ann()), &[], &[]).await.unwrap();
    first.response(&ann(), "resp_2").await.unwrap();
    second.response(&ann(), "resp_1").await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_tasks_at_once_lose_nothing() {
    let (_home, store) = store().await;
    store.save_response(&response("resp_shared", &ann()), &[], &[]).await.unwrap();
    let tasks: Vec<_> = (0..200u64)
        .map(|number| {
            let store = store.clone();
            tokio::spawn(async move {
                let owner = if number % 2 == 0 { ann() } else { bob() };
                let id = format!("resp_{number}");
                for step in 0..5 {
                    let mut record = response(&id, &owner);
                    record.body = json!({"step": step});
                    let output = item(&format!("msg_{number}_{step}"));
                    store.save_response(&record, &[item("msg_same")], &[output]).await.unwrap();
                    store.append_events("resp_shared", &[(number * 5 + step, String::new())]).await.unwrap();
                }
                let content = tokio::io::repeat(b'x');
                let content = tokio::io::AsyncReadExt::take(content, 1000);
                store.add_file(&owner, "a.txt", "user_data", None, content, 1000).await.unwrap();
                assert_eq!(store.history(&owner, &id).await.unwrap().0.len(), 2);
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(count(&store, "responses").await, 201);
    assert_eq!(count(&store, "items").await, 202, "one shared input per owner, one last output per response");
    assert_eq!(store.events_after("resp_shared", None).await.unwrap().len(), 1000);
    assert_eq!(store.files(&ann(), None, &after(1000, None)).await.unwrap().data.len(), 100);
}

const CHILD: &str = "SANDGATE_STORE_TEST_HOME";

/// Not a test by itself: the process that the next test kills.
#[tokio::test]
async fn writes_until_it_is_killed() {
    let Ok(home) = std::env::var(CHILD) else { return };
    let store = Store::open(home.as_ref()).await.unwrap();
    for number in 0.. {
        let id = format!("resp_{number}");
        store.save_response(&response(&id, &ann()), &[item(&format!("msg_{number}"))], &[]).await.unwrap();
        let content = vec![b'x'; 50_000];
        let file = store.add_file(&ann(), "a", "user_data", None, content.as_slice(), 50_000).await.unwrap();
        println!("\nsaved {id} {}", file.id);
    }
}

#[tokio::test]
async fn everything_that_was_answered_survives_a_kill() {
    let home = tempfile::tempdir().unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "open::tests::writes_until_it_is_killed", "--nocapture"])
        .env(CHILD, home.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let is_saved = |line: &String| line.starts_with("saved ");
    let mut saved: Vec<String> = lines.by_ref().filter(is_saved).take(50).collect();
    child.kill().unwrap();
    saved.extend(lines.filter(is_saved));
    child.wait().unwrap();
    assert!(saved.len() >= 50);

    let store = Store::open(home.path()).await.unwrap();
    for line in &saved {
        let words: Vec<_> = line.split(' ').collect();
        assert_eq!(store.history(&ann(), words[1]).await.unwrap().0.len(), 1);
        let (record, content) = store.open_file(&ann(), words[2]).await.unwrap();
        assert_eq!((record.bytes, content.metadata().await.unwrap().len()), (50_000, 50_000));
    }
    let contents = std::fs::read_dir(home.path().join("files")).unwrap().count();
    assert_eq!(contents, count(&store, "files").await, "no draft and no content without a row");
}

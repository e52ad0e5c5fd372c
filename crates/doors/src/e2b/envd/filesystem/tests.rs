//! The service through its own protocol, over a plain folder.

use serde_json::{Value, json};

use super::super::double::{Place, place, until};

async fn call(place: &Place, procedure: &str, ask: Value) -> (u16, Value) {
    place.call(&format!("filesystem.Filesystem/{procedure}"), &ask).await
}

#[tokio::test]
async fn entries_say_what_they_are() {
    let place = place().await;
    place.write("a.txt", "hello").await;
    let (status, told) = call(&place, "Stat", json!({ "path": "a.txt" })).await;
    let entry = &told["entry"];
    assert_eq!((status, &entry["path"], &entry["name"]), (200, &json!("/home/user/a.txt"), &json!("a.txt")));
    assert_eq!((&entry["type"], &entry["size"]), (&json!("FILE_TYPE_FILE"), &json!("5")));
    assert_eq!((&entry["permissions"], &entry["mode"]), (&json!("-rw-r--r--"), &json!(0o644)));
    assert!(entry["modifiedTime"].as_str().unwrap().ends_with('Z'));
    let missing = json!({ "code": "not_found", "message": "path '/home/user/b' does not exist" });
    assert_eq!(call(&place, "Stat", json!({ "path": "b" })).await, (404, missing));
}

#[tokio::test]
async fn folders_are_made_once_and_listed_to_a_depth() {
    let place = place().await;
    assert_eq!(call(&place, "MakeDir", json!({ "path": "d/e" })).await.0, 200);
    let (status, told) = call(&place, "MakeDir", json!({ "path": "d/e" })).await;
    assert_eq!((status, &told["code"]), (409, &json!("already_exists")));
    place.write("d/e/f", "x").await;
    let (status, told) = call(&place, "MakeDir", json!({ "path": "d/e/f" })).await;
    assert_eq!((status, &told["code"]), (400, &json!("invalid_argument")));
    let listed = async |depth: u32| {
        let (status, told) = call(&place, "ListDir", json!({ "path": "/home/user", "depth": depth })).await;
        assert_eq!(status, 200);
        let entries = told["entries"].as_array().unwrap();
        entries.iter().map(|entry| entry["path"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(listed(0).await, ["/home/user/d"]);
    assert_eq!(listed(2).await, ["/home/user/d", "/home/user/d/e"]);
    assert_eq!(listed(3).await.len(), 3);
    assert_eq!(call(&place, "ListDir", json!({ "path": "/none" })).await.0, 404);
    assert_eq!(call(&place, "ListDir", json!({ "path": "d/e/f" })).await.0, 400);
    assert_eq!(call(&place, "ListDir", json!({ "path": "/tmp" })).await, (200, json!({})));
}

#[tokio::test]
async fn things_move_and_go() {
    let place = place().await;
    place.write("a", "x").await;
    let (status, told) = call(&place, "Move", json!({ "source": "a", "destination": "new/b" })).await;
    assert_eq!((status, &told["entry"]["path"]), (200, &json!("/home/user/new/b")));
    assert_eq!(call(&place, "Move", json!({ "source": "a", "destination": "c" })).await.0, 404);
    for _ in 0..2 {
        assert_eq!(call(&place, "Remove", json!({ "path": "new" })).await, (200, json!({})));
    }
    assert_eq!(call(&place, "Stat", json!({ "path": "new/b" })).await.0, 404);
}

#[tokio::test]
async fn a_watcher_keeps_what_happened_until_it_is_asked() {
    let place = place().await;
    let ask = json!({ "path": "/home/user", "includeEntry": true });
    let (_, made) = call(&place, "CreateWatcher", ask).await;
    let id = json!({ "watcherId": made["watcherId"] });
    assert_eq!(call(&place, "GetWatcherEvents", id.clone()).await, (200, json!({})));
    place.write("a", "x").await;
    call(&place, "Remove", json!({ "path": "a" })).await;
    let mut events = Vec::new();
    until(async || {
        let (_, told) = call(&place, "GetWatcherEvents", id.clone()).await;
        events.extend(told["events"].as_array().cloned().unwrap_or_default());
        events.len() >= 3
    })
    .await;
    let types: Vec<_> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["EVENT_TYPE_CREATE", "EVENT_TYPE_WRITE", "EVENT_TYPE_REMOVE"]);
    assert!(events.iter().all(|event| event["name"] == "a"));
    assert!(events[2].get("entry").is_none());
    assert_eq!(call(&place, "RemoveWatcher", id.clone()).await, (200, json!({})));
    assert_eq!(call(&place, "GetWatcherEvents", id.clone()).await.0, 404);
    assert_eq!(call(&place, "RemoveWatcher", id).await.0, 404);
    let sandbox = place.backend.only().unwrap();
    until(async || sandbox.watches() == 0).await;
}

#[tokio::test]
async fn two_hundred_watches_work_and_a_flood_of_them_is_refused() {
    let place = place().await;
    let mut ids = Vec::new();
    for _ in 0..200 {
        let (status, made) = call(&place, "CreateWatcher", json!({ "path": "/tmp" })).await;
        assert_eq!(status, 200);
        ids.push(made["watcherId"].clone());
    }
    place.write("/tmp/x", "x").await;
    for id in &ids {
        let ask = json!({ "watcherId": id });
        until(async || call(&place, "GetWatcherEvents", ask.clone()).await.1.get("events").is_some()).await;
    }
    let mut refused = (200, Value::Null);
    for _ in 0..100 {
        refused = call(&place, "CreateWatcher", json!({ "path": "/tmp" })).await;
    }
    assert_eq!((refused.0, &refused.1["code"]), (429, &json!("resource_exhausted")));
    let sandbox = place.backend.only().unwrap();
    assert_eq!(sandbox.watches(), 256);
    place.kill().await;
    until(async || sandbox.watches() == 0).await;
}

#[tokio::test]
async fn watching_what_is_no_folder_is_refused() {
    let place = place().await;
    place.write("a", "x").await;
    for (path, status) in [("/none", 404), ("a", 400)] {
        assert_eq!(call(&place, "CreateWatcher", json!({ "path": path })).await.0, status);
    }
    let stream = place.stream("filesystem.Filesystem/WatchDir", "", &json!({ "path": "/none" })).await;
    assert_eq!(stream.all().await.1["error"]["code"], "not_found");
}

#[tokio::test]
async fn a_stream_of_changes_starts_says_them_and_ends_with_its_folder() {
    let place = place().await;
    call(&place, "MakeDir", json!({ "path": "d" })).await;
    let ask = json!({ "path": "d", "recursive": true });
    let mut stream = place.stream("filesystem.Filesystem/WatchDir", "", &ask).await;
    assert_eq!(stream.message().await, json!({ "start": {} }));
    place.write("d/e/f", "x").await;
    let change = json!({ "filesystem": { "name": "e/f", "type": "EVENT_TYPE_CREATE" } });
    assert_eq!(stream.message().await, change);
    call(&place, "Remove", json!({ "path": "d" })).await;
    let (messages, last) = stream.all().await;
    assert_eq!((messages.len(), last), (1, json!({})));
}

#[tokio::test]
async fn a_stream_of_changes_ends_at_its_deadline_or_is_cut_with_the_sandbox() {
    let place = place().await;
    let ask = json!({ "path": "/tmp" });
    let late = place.stream("filesystem.Filesystem/WatchDir", "\nconnect-timeout-ms: 50", &ask).await;
    assert_eq!(late.all().await.1["error"]["code"], "deadline_exceeded");
    let mut stream = place.stream("filesystem.Filesystem/WatchDir", "", &ask).await;
    stream.message().await;
    place.kill().await;
    assert!(stream.next().await.is_none());
}

#[tokio::test]
async fn changes_that_are_lost_are_said_to_be() {
    let place = place().await;
    let mut stream = place.stream("filesystem.Filesystem/WatchDir", "", &json!({ "path": "/tmp" })).await;
    stream.message().await;
    for number in 0..100 {
        place.write(&format!("/tmp/{number}"), "x").await;
    }
    assert_eq!(stream.all().await.1["error"]["code"], "data_loss");
}

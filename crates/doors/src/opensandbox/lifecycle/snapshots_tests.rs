//! Snapshots on the wire.

use serde_json::json;

use super::super::super::test_client::{KEY, client, least_with};

#[tokio::test]
async fn a_snapshot_is_made_listed_found_used_and_deleted() {
    let client = client().await;
    let env = json!({"KEPT": "from before", "BOTH": "old"});
    let id = client.make(&json!({"env": env, "entrypoint": ["sleep", "infinity"]})).await;
    let made = client.post(&format!("/v1/sandboxes/{id}/snapshots"), json!({"name": "one"})).await;
    assert_eq!(made.status, 202, "{:?}", made.body);
    let snapshot = made.json();
    assert_eq!((&snapshot["sandboxId"], &snapshot["name"]), (&json!(id), &json!("one")));
    assert_eq!(snapshot["status"]["state"], "Ready");
    let at = format!("/v1/snapshots/{}", snapshot["id"].as_str().unwrap());
    assert_eq!(made.headers["location"], at.as_str());
    assert_eq!(client.get(&at).await.json(), snapshot);
    let unnamed = client.ask(KEY, "POST", &format!("/v1/sandboxes/{id}/snapshots"), None).await;
    assert_eq!(unnamed.status, 202, "a body is not asked for");
    assert!(unnamed.json().get("name").is_none());
    for (query, number) in [
        ("", 2),
        (&*format!("?sandboxId={id}&state=Ready"), 2),
        ("?sandboxId=another", 0),
        ("?state=Failed", 0),
    ] {
        let listed = client.get(&format!("/v1/snapshots{query}")).await.json();
        assert_eq!(listed["pagination"]["totalItems"], number, "{query}");
    }

    let mut body = least_with(&json!({"snapshotId": snapshot["id"], "env": {"BOTH": "new"}}));
    for left_out in ["image", "entrypoint"] {
        body.as_object_mut().unwrap().remove(left_out);
    }
    let restored = client.post("/v1/sandboxes", body.clone()).await;
    assert_eq!(restored.status, 202, "{:?}", restored.body);
    assert_eq!(
        restored.json()["entrypoint"],
        json!(["sleep", "infinity"]),
        "that of the sandbox it was taken of"
    );
    let restored = restored.json()["id"].as_str().unwrap().to_owned();
    let found = client.get(&format!("/v1/sandboxes/{restored}")).await.json();
    assert_eq!((&found["snapshotId"], found.get("image")), (&snapshot["id"], None));
    let lease = client.leases.find("opensandbox", &restored).unwrap();
    let mut env = client.leases.container(&lease).unwrap().spec().env.clone();
    env.sort();
    let expected = [("BOTH", "new"), ("KEPT", "from before")];
    assert_eq!(env, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));

    assert_eq!(client.ask("bob", "GET", &at, None).await.status, 404);
    assert_eq!(client.ask("bob", "POST", "/v1/sandboxes", Some(body.clone())).await.status, 404);
    assert_eq!(client.ask(KEY, "DELETE", &at, None).await.status, 204);
    assert_eq!(client.ask(KEY, "DELETE", &at, None).await.status, 404);
    let gone = client.post("/v1/sandboxes", body).await;
    assert_eq!((gone.status, gone.field("code").as_str()), (404, "SNAPSHOT::NOT_FOUND"));
}

#[tokio::test]
async fn a_paused_sandbox_and_a_bad_name_are_refused() {
    let client = client().await;
    let id = client.make(&json!({})).await;
    let at = format!("/v1/sandboxes/{id}/snapshots");
    for name in [json!(""), json!("x".repeat(300))] {
        assert_eq!(client.post(&at, json!({"name": name})).await.status, 400);
    }
    assert_eq!(client.post(&at, json!({"name": 7})).await.status, 422);
    client.post(&format!("/v1/sandboxes/{id}/pause"), json!({})).await;
    assert_eq!(client.post(&at, json!({})).await.field("code"), "DOCKER::SANDBOX_NOT_RUNNING");
    assert_eq!(client.post("/v1/sandboxes/none/snapshots", json!({})).await.status, 404);
}

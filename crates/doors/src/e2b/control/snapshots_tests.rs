//! Taken, listed, used as templates and deleted; one owner's are nobody else's.

use std::sync::Arc;

use bytes::Bytes;
use sandgate_core::{KeyLimits, Lease, SandboxPath};
use sandgate_store::NewKey;
use serde_json::{Value, json};

use super::super::super::test_client::{Answer, Client, KEY, client, client_with};
use super::super::super::{DOOR, E2bSettings};
use super::Name;

fn lease(client: &Client, id: &str) -> Arc<Lease> {
    client.leases.find(DOOR, id).unwrap()
}

async fn write(client: &Client, id: &str, text: &str) {
    let files = client.leases.container(&lease(client, id)).unwrap().files().await.unwrap();
    let path = SandboxPath::parse("/home/user/kept").unwrap();
    files.write(&path, &mut text.as_bytes()).await.unwrap();
}

async fn read(client: &Client, id: &str) -> Option<Bytes> {
    use tokio::io::AsyncReadExt;
    let files = client.leases.container(&lease(client, id)).unwrap().files().await.unwrap();
    let path = SandboxPath::parse("/home/user/kept").unwrap();
    let mut content = Vec::new();
    files.open(&path, None).await.ok()?.reader.read_to_end(&mut content).await.unwrap();
    Some(content.into())
}

async fn take(client: &Client, sandbox: &str, body: Value) -> String {
    let answer = client.post(&format!("/sandboxes/{sandbox}/snapshots"), body).await;
    assert_eq!(answer.status, 201, "{answer:?}");
    answer.json()["snapshotID"].as_str().unwrap().to_owned()
}

fn ids(answer: &Answer) -> Vec<String> {
    let all = answer.json();
    let ids = all.as_array().unwrap().iter();
    ids.map(|entry| entry["snapshotID"].as_str().unwrap().to_owned()).collect()
}

async fn delete(client: &Client, key: &str, name: &str) -> u16 {
    let path = format!("/templates/{}", name.replace(':', "%3A"));
    client.ask(key, "DELETE", &path, None).await.status
}

#[tokio::test]
async fn a_snapshot_is_a_template_with_files_and_variables() {
    let client = client().await;
    let made = client.make(json!({"envVars": {"FOO": "kept", "BAR": "old"}})).await;
    write(&client, &made.id, "kept").await;
    let snapshot = take(&client, &made.id, json!({"memory": false})).await;
    write(&client, &made.id, "changed later").await;
    assert_eq!(client.ask(KEY, "DELETE", &format!("/sandboxes/{}", made.id), None).await.status, 204);

    for number in 0..2 {
        let body = json!({"templateID": snapshot, "envVars": {"BAR": "new"}, "timeout": 60});
        let copy = client.make(body).await;
        assert_eq!(read(&client, &copy.id).await.unwrap(), "kept", "{number}");
        write(&client, &copy.id, "its own").await;
        let container = client.leases.container(&lease(&client, &copy.id)).unwrap();
        let env = container.spec().env.clone();
        for (name, value) in [("FOO", "kept"), ("BAR", "new"), ("E2B_SANDBOX_ID", copy.id.as_str())] {
            assert!(env.contains(&(name.to_owned(), value.to_owned())), "{name} {env:?}");
        }
        assert!(lease(&client, &copy.id).ends_ms.is_some());
        assert_eq!(client.get(&format!("/sandboxes/{}", copy.id)).await.json()["templateID"], snapshot);
    }
    assert_eq!(ids(&client.get("/snapshots").await), [snapshot.as_str()]);
    assert_eq!(client.get("/v2/sandboxes").await.json().as_array().unwrap().len(), 2);
    assert_eq!(delete(&client, KEY, &snapshot).await, 204);
    assert_eq!(delete(&client, KEY, &snapshot).await, 404);
    let gone = client.post("/v2/sandboxes", json!({"templateID": snapshot})).await;
    assert_eq!((gone.status, gone.json()["code"].clone()), (404, json!(404)));
    assert_eq!(client.post("/sandboxes/inone/snapshots", json!({})).await.status, 404);
}

#[tokio::test]
async fn a_name_is_kept_and_means_the_newest() {
    let client = client().await;
    let made = client.make(json!({})).await;
    write(&client, &made.id, "first").await;
    let path = format!("/sandboxes/{}/snapshots", made.id);
    let first = client.post(&path, json!({"name": "Mine"})).await.json();
    assert_eq!(first, json!({"snapshotID": "mine:default", "names": ["mine:default"]}));
    write(&client, &made.id, "second").await;
    assert_eq!(take(&client, &made.id, json!({"name": "mine"})).await, "mine:default");
    assert_eq!(take(&client, &made.id, json!({"name": "mine:v2"})).await, "mine:v2");
    let mut all = ids(&client.get("/snapshots").await);
    all.sort();
    assert_eq!(all, ["mine:default", "mine:v2"]);
    for template in ["mine", "mine:default", "mine:v2"] {
        let copy = client.make(json!({"templateID": template})).await;
        assert_eq!(read(&client, &copy.id).await.unwrap(), "second", "{template}");
    }
    assert_eq!(client.get("/templates/aliases/mine").await.json()["public"], false);
    assert_eq!(client.post("/v2/sandboxes", json!({"templateID": "mine:v3"})).await.status, 404);
    for wrong in ["base", "code-interpreter-v1:x", "a/b", "a b", "", ":", "a:"] {
        assert_eq!(client.post(&path, json!({"name": wrong})).await.status, 400, "{wrong}");
    }
    assert_eq!(client.post(&path, json!({"memory": "no"})).await.status, 400);
    assert_eq!(delete(&client, KEY, "mine").await, 204);
    assert_eq!(ids(&client.get("/snapshots").await), ["mine:v2"]);
}

#[tokio::test]
async fn the_list_is_filtered_and_comes_in_pages() {
    let client = client().await;
    let (one, other) = (client.make(json!({})).await, client.make(json!({})).await);
    let mut taken = Vec::new();
    for number in 0..5 {
        taken.push(take(&client, &one.id, json!({"name": format!("n:{number}")})).await);
    }
    let unnamed = take(&client, &other.id, json!({})).await;
    assert_eq!(ids(&client.get(&format!("/snapshots?sandboxID={}", other.id)).await), [unnamed.as_str()]);
    assert_eq!(ids(&client.get("/snapshots?name=n").await).len(), 5);
    assert_eq!(ids(&client.get("/snapshots?name=n%3A3").await), ["n:3"]);
    assert!(ids(&client.get("/snapshots?name=other").await).is_empty());

    let (mut seen, mut token) = (Vec::new(), String::new());
    loop {
        let path = format!("/snapshots?sandboxID={}&limit=2&nextToken={token}", one.id);
        let page = client.get(&path).await;
        seen.extend(ids(&page));
        match page.headers.get("x-next-token") {
            Some(next) => token = next.to_str().unwrap().to_owned(),
            None => break,
        }
    }
    seen.sort();
    assert_eq!(seen, taken);
    for wrong in ["limit=0", "limit=101", "nextToken=%21"] {
        assert_eq!(client.get(&format!("/snapshots?{wrong}")).await.status, 400, "{wrong}");
    }
}

#[tokio::test]
async fn a_snapshot_is_its_owners_alone_counts_as_a_container_and_is_in_no_other_list() {
    let client = client_with(E2bSettings::default(), Some("master")).await;
    let limits = KeyLimits { containers: Some(2), ..KeyLimits::default() };
    let new = NewKey { name: "ann".to_owned(), limits, ..NewKey::default() };
    let (_, ann) = client.store.create_key(new).await.unwrap();
    let (_, bob) =
        client.store.create_key(NewKey { name: "bob".to_owned(), ..NewKey::default() }).await.unwrap();
    let (ann, bob) = (ann.expose(), bob.expose());
    let made = client.ask(ann, "POST", "/v2/sandboxes", Some(json!({"templateID": "base"}))).await.json();
    let id = made["sandboxID"].as_str().unwrap();
    let path = format!("/sandboxes/{id}/snapshots");
    let named = Some(json!({"name": "mine"}));
    assert_eq!(client.ask(bob, "POST", &path, named.clone()).await.status, 404);
    assert_eq!(client.ask(ann, "POST", &path, named.clone()).await.status, 201);
    assert_eq!(client.ask(ann, "POST", &path, named).await.status, 429);

    assert!(ids(&client.ask(bob, "GET", "/snapshots", None).await).is_empty());
    for other in [bob, "master"] {
        let body = Some(json!({"templateID": "mine"}));
        assert_eq!(client.ask(other, "POST", "/v2/sandboxes", body).await.status, 404);
        assert_eq!(delete(&client, other, "mine").await, 404);
    }
    let owner = client.leases.find(DOOR, id).unwrap().owner.clone();
    let containers = client.containers.list(&owner).await;
    assert_eq!(containers.len(), 1);
    assert_eq!(ids(&client.ask(ann, "GET", "/snapshots", None).await), ["mine:default"]);
    assert_eq!(delete(&client, ann, "mine:default").await, 204);
}

#[test]
fn names_are_aliases_with_tags() {
    let shown = |text: &str| Name::parse(text).map(|name| name.to_string()).ok();
    assert_eq!(shown(" My-Snap "), Some("my-snap:default".to_owned()));
    assert_eq!(shown("a:v1.2"), Some("a:v1.2".to_owned()));
    assert_eq!(shown(&"a".repeat(129)), None);
    assert_eq!(shown("a:b:c"), None);
}

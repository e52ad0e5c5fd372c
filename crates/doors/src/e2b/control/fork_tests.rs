//! Forks: like the sandbox in all but their ids and tokens, each made or refused by itself.

use sandgate_core::KeyLimits;
use sandgate_store::NewKey;
use serde_json::{Value, json};

use super::super::super::test_client::{client, client_with};
use super::super::super::{DOOR, E2bSettings};

#[tokio::test]
async fn forks_are_like_the_sandbox_and_have_ways_in_of_their_own() {
    let client = client().await;
    let body = json!({"templateID": "code-interpreter-v1", "metadata": {"a": "b"}, "envVars": {"FOO": "kept"},
                      "autoPause": true, "network": {"allowPublicTraffic": false}});
    let made = client.make(body).await;
    let path = format!("/sandboxes/{}/fork", made.id);
    let answer = client.post(&path, json!({"timeout": 60, "count": 3})).await;
    assert_eq!(answer.status, 201);
    let forks = answer.json();
    let mut tokens = vec![made.envd.clone()];
    for fork in forks.as_array().unwrap() {
        let fork = &fork["sandbox"];
        assert_eq!(fork["templateID"], "code-interpreter-v1");
        tokens.push(fork["envdAccessToken"].as_str().unwrap().to_owned());
        let id = fork["sandboxID"].as_str().unwrap();
        let shown = client.get(&format!("/sandboxes/{id}")).await.json();
        assert_eq!(
            (shown["state"].clone(), shown["metadata"].clone()),
            (json!("running"), json!({"a": "b"}))
        );
        assert_eq!(shown["lifecycle"]["onTimeout"], "pause");
        assert_eq!(shown["network"], json!({"allowPublicTraffic": false}));
        let lease = client.leases.find(DOOR, id).unwrap();
        let env = client.leases.container(&lease).unwrap().spec().env.clone();
        assert!(env.contains(&("FOO".to_owned(), "kept".to_owned())), "{env:?}");
        assert!(env.contains(&("E2B_SANDBOX_ID".to_owned(), id.to_owned())), "{env:?}");
    }
    tokens.sort();
    tokens.dedup();
    assert_eq!(tokens.len(), 4);
    let one = client.ask("e2b_ann", "POST", &path, None).await;
    assert_eq!((one.status, one.json().as_array().map(Vec::len)), (201, Some(1)));
}

#[tokio::test]
async fn what_cannot_be_forked_is_refused() {
    let client = client().await;
    let made = client.make(json!({})).await;
    let path = format!("/sandboxes/{}/fork", made.id);
    for wrong in [json!({"count": 0}), json!({"count": 21}), json!({"count": "2"}), json!({"timeout": 9e9})] {
        assert_eq!(client.post(&path, wrong.clone()).await.status, 400, "{wrong}");
    }
    assert_eq!(client.post("/sandboxes/inone/fork", json!({})).await.status, 404);
    client.post(&format!("/sandboxes/{}/pause", made.id), json!({})).await;
    assert_eq!(client.post(&path, json!({})).await.status, 409);
}

#[tokio::test]
async fn each_fork_is_made_or_refused_by_itself() {
    let client = client_with(E2bSettings::default(), Some("master")).await;
    let limits = KeyLimits { sandboxes: Some(2), ..KeyLimits::default() };
    let new = NewKey { name: "k".to_owned(), limits, ..NewKey::default() };
    let (_, key) = client.store.create_key(new).await.unwrap();
    let made = client.ask(key.expose(), "POST", "/v2/sandboxes", Some(json!({"templateID": "base"}))).await;
    let path = format!("/sandboxes/{}/fork", made.json()["sandboxID"].as_str().unwrap());
    let forks = client.ask(key.expose(), "POST", &path, Some(json!({"count": 2}))).await;
    assert_eq!(forks.status, 201);
    let forks = forks.json();
    assert!(forks[0]["sandbox"]["sandboxID"].is_string() && forks[0].get("error").is_none(), "{forks}");
    assert_eq!((forks[1]["error"]["code"].clone(), forks[1].get("sandbox")), (json!(429), None::<&Value>));
    assert!(forks[1]["error"]["message"].is_string());
    // Nothing is left of the one that could not be started.
    assert_eq!(client.leases.all(DOOR).len(), 2);
    assert_eq!(client.containers.count(), 2);
}

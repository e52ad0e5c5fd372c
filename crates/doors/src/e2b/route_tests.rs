//! Into a sandbox: with its tokens, while it is there.

use std::time::Duration;

use axum::body::Body;
use axum::http::Request as HttpRequest;
use futures_util::StreamExt;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::super::test_client::{Made, client, client_under, client_with};
use super::super::tokens::{TRAFFIC_HEADER, sign};
use super::super::{CODE_PORT, E2bSettings, ENVD_PORT};
use super::*;

const LONGEST: Duration = Duration::from_secs(60);

fn nobody() -> Made {
    Made { id: "inone".to_owned(), envd: "ea_x".to_owned(), traffic: "ta_x".to_owned() }
}

#[tokio::test]
async fn envd_takes_its_token_and_its_health_none() {
    let client = client().await;
    let made = client.make(json!({})).await;
    assert_eq!(client.inside(&made, ENVD_PORT, "/health", &[]).await.status, 204);
    let right = [(ENVD_HEADER, made.envd.as_str())];
    assert_eq!(client.inside(&made, ENVD_PORT, "/envs", &right).await.status, 200);
    for headers in [&[][..], &[(ENVD_HEADER, "ea_wrong")], &[(ENVD_HEADER, &made.traffic)]] {
        let refused = client.inside(&made, ENVD_PORT, "/envs", headers).await;
        assert_eq!((refused.status, refused.json()["code"].clone()), (401, json!(401)));
        let refused = client.inside(&made, ENVD_PORT, "/process.Process/List", headers).await;
        assert_eq!((refused.status, refused.json()["code"].clone()), (401, json!("unauthenticated")));
    }
    // At what needs no token none is looked at.
    assert_eq!(client.inside(&made, ENVD_PORT, "/health", &[(ENVD_HEADER, "x")]).await.status, 204);
}

#[tokio::test]
async fn other_ports_take_the_traffic_token() {
    let client = client().await;
    let made = client.make(json!({})).await;
    for port in [CODE_PORT, 3000] {
        let refused = client.inside(&made, port, "/health", &[]).await;
        assert_eq!(refused.status, 403);
        assert_eq!(
            (refused.json()["sandboxId"].clone(), refused.json()["code"].clone()),
            (json!(made.id), json!(403))
        );
    }
    let right = [(TRAFFIC_HEADER, made.traffic.as_str())];
    assert_eq!(client.inside(&made, CODE_PORT, "/health", &right).await.status, 200);
    let closed = client.inside(&made, 3000, "/", &right).await;
    assert_eq!((closed.status, closed.json()["port"].clone()), (502, json!(3000)));
    assert_eq!(closed.field("message"), "The sandbox is running but port is not open");
}

#[tokio::test]
async fn operators_may_leave_ports_open() {
    let client = client_with(E2bSettings { open_ports: true, ..E2bSettings::default() }, None).await;
    let made = client.make(json!({})).await;
    assert_eq!(client.inside(&made, CODE_PORT, "/health", &[]).await.status, 200);
    assert_eq!(client.inside(&made, ENVD_PORT, "/envs", &[]).await.status, 401);
    let private = client.make(json!({"network": {"allowPublicTraffic": false}})).await;
    assert_eq!(client.inside(&private, CODE_PORT, "/health", &[]).await.status, 403);
}

#[tokio::test]
async fn a_sandbox_that_is_not_there_was_not_found() {
    let client = client().await;
    let gone = client.inside(&nobody(), ENVD_PORT, "/health", &[]).await;
    let expected = json!({"sandboxId": "inone", "message": "The sandbox was not found", "code": 502});
    assert_eq!((gone.status, gone.json()), (502, expected));
    let made = client.make(json!({"timeout": 0})).await;
    assert_eq!(client.inside(&made, ENVD_PORT, "/health", &[]).await.status, 502);
    let made = client.make(json!({})).await;
    client.leases.pause(&made.id).await.unwrap();
    let paused = client.inside(&made, ENVD_PORT, "/envs", &[(ENVD_HEADER, &made.envd)]).await;
    assert_eq!((paused.status, paused.field("message").as_str()), (502, "The sandbox was not found"));
}

#[tokio::test]
async fn traffic_wakes_a_sandbox_that_asked_for_it() {
    let client = client().await;
    let made =
        client.make(json!({"autoPause": true, "autoResume": {"enabled": true}, "timeout": 1000})).await;
    client.leases.pause(&made.id).await.unwrap();
    let right = [(ENVD_HEADER, made.envd.as_str())];
    let state = || client.leases.find(DOOR, &made.id).unwrap().state;
    // Neither a look at its health nor a stranger does.
    assert_eq!(client.inside(&made, ENVD_PORT, "/health", &right).await.status, 502);
    assert_eq!(client.inside(&made, ENVD_PORT, "/envs", &[]).await.status, 401);
    assert_eq!(state(), LeaseState::Paused);
    assert_eq!(client.inside(&made, ENVD_PORT, "/envs", &right).await.status, 200);
    assert_eq!(state(), LeaseState::Running);
    assert!(client.leases.find(DOOR, &made.id).unwrap().ends_ms.unwrap() > now_ms() + 900_000);
}

#[tokio::test]
async fn a_key_that_is_revoked_wakes_nothing() {
    let client = client().await;
    let made = client.make(json!({"autoPause": true, "autoResume": {"enabled": true}})).await;
    let (key, _) = client.store.create_key(sandgate_store::NewKey::default()).await.unwrap();
    let id = key.id.clone();
    client.leases.change_details(&made.id, move |details| details["key"] = json!(id)).await.unwrap();
    let right = [(ENVD_HEADER, made.envd.as_str())];
    client.leases.pause(&made.id).await.unwrap();
    assert_eq!(client.inside(&made, ENVD_PORT, "/envs", &right).await.status, 200);
    client.leases.pause(&made.id).await.unwrap();
    client.store.revoke_key(&key.id).await.unwrap();
    assert_eq!(client.inside(&made, ENVD_PORT, "/envs", &right).await.status, 502);
    assert_eq!(client.leases.find(DOOR, &made.id).unwrap().state, LeaseState::Paused);
}

/// The tokens of a sandbox stand for the key that made it, as that key is now.
#[tokio::test]
async fn a_key_that_was_narrowed_runs_nothing_where_more_is_open() {
    let client = client_under(&["open"]).await;
    let made = client.make(json!({"allow_internet_access": true})).await;
    let (key, _) = client.store.create_key(sandgate_store::NewKey::default()).await.unwrap();
    let id = key.id.clone();
    client.leases.change_details(&made.id, move |details| details["key"] = json!(id)).await.unwrap();
    let contexts = async || {
        let token = [("e2b-traffic-access-token", made.traffic.as_str())];
        client.inside(&made, super::CODE_PORT, "/contexts", &token).await
    };
    assert_eq!(contexts().await.status, 200);
    let narrow = |limits| Ok::<_, ()>(sandgate_core::KeyLimits { network: Some(Vec::new()), ..limits });
    client.store.change_key_limits(&key.id, narrow).await.unwrap().unwrap();
    let refused = contexts().await;
    assert_eq!(refused.status, 400, "{refused:?}");
    let said = String::from_utf8_lossy(&refused.body).into_owned();
    assert!(said.contains("this key may not run code"), "{said}");
}

#[tokio::test]
async fn a_signed_file_finds_its_sandbox_by_the_signature() {
    let client = client().await;
    let made = client.make(json!({})).await;
    client.make(json!({})).await;
    let ask = async |uri: String| {
        let request = HttpRequest::get(uri).header("host", "localhost").body(Body::empty()).unwrap();
        client.send(request).await
    };
    let signed = |token: &str| {
        let signature = sign("/a", "read", "", token, None).replace('+', "%2B").replace('/', "%2F");
        format!("/files?path=%2Fa&signature={signature}")
    };
    // It gets in, and there the scripted sandbox has no files.
    let found = ask(signed(&made.envd)).await;
    assert!(found.status != 401 && found.status != 502, "{found:?}");
    let wrong = ask(signed("ea_wrong")).await;
    assert_eq!((wrong.status, wrong.json()), (401, json!({"code": 401, "message": "invalid signature"})));
    let below = ask(format!("/e2b{}", signed("ea_wrong"))).await;
    assert_eq!(below.status, 401);
}

#[tokio::test]
async fn what_still_talks_is_cut_off_when_the_sandbox_ends() {
    let client = client().await;
    let made = client.make(json!({})).await;
    let body: Value = json!({"code": "hang"});
    let request = HttpRequest::post("/e2b/execute")
        .header("host", "localhost")
        .header("content-type", "application/json")
        .header("e2b-sandbox-id", &made.id)
        .header("e2b-sandbox-port", CODE_PORT)
        .header(TRAFFIC_HEADER, &made.traffic)
        .body(Body::from(body.to_string()))
        .unwrap();
    let response = client.answer(request).await;
    assert_eq!(response.status(), 200);
    client.leases.delete(&made.id).await.unwrap();
    let mut pieces = response.into_body().into_data_stream();
    let cut = timeout(LONGEST, async {
        while let Some(piece) = pieces.next().await {
            if piece.is_err() {
                return true;
            }
        }
        false
    });
    assert!(cut.await.unwrap(), "the answer ended as if all were well");
}

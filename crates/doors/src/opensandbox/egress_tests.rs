//! The rules of a network, and what becomes of them.

use axum::body::Body;
use axum::http::Request as HttpRequest;
use serde_json::json;

use super::super::test_client::{Answer, Client, client, client_under, client_with_network};
use super::*;

async fn ask(client: &Client, id: &str, method: &str, path: &str, body: Value) -> Answer {
    let (name, token) = client.token(id, super::super::EGRESS_PORT).await;
    let request = HttpRequest::builder()
        .method(method)
        .uri(format!("/v1/sandboxes/{id}/proxy/18080{path}"))
        .header("host", "localhost")
        .header(name, token);
    client.send(request.body(Body::from(body.to_string())).unwrap()).await
}

fn rule(action: &str, target: &str) -> Value {
    json!({"action": action, "target": target})
}

#[tokio::test]
async fn what_is_asked_for_is_what_the_sandbox_gets() {
    let (client, backend) = client_under(&["*.lab.example"]).await;
    let policy = json!({"defaultAction": "deny", "egress": [
        rule("deny", "bad.lab.example"), rule("allow", "a.lab.example")]});
    let id = client.make(&json!({"networkPolicy": policy})).await;
    let told = ask(&client, &id, "GET", "/policy", Value::Null).await.json();
    assert_eq!(told["policy"], policy);
    assert_eq!(told["mode"], "deny_all");
    let enforced = backend.only_network().unwrap();
    assert_eq!(enforced, network_policy(&policy).unwrap());
    assert_eq!(ask(&client, &id, "GET", "/healthz", Value::Null).await.status, 200);
}

#[tokio::test]
async fn rules_change_while_it_runs() {
    let (client, backend) = client_under(&["*.lab.example"]).await;
    let id = client.make(&json!({})).await;
    assert!(backend.only_network().unwrap().is_disabled());
    let merged = ask(
        &client,
        &id,
        "PATCH",
        "/policy",
        json!([rule("allow", "a.lab.example"), rule("deny", "b.lab.example")]),
    )
    .await;
    assert_eq!(merged.status, 200, "{merged:?}");
    let both = json!([rule("allow", "a.lab.example"), rule("deny", "b.lab.example")]);
    assert_eq!(merged.json()["policy"], json!({"defaultAction": "deny", "egress": both}));
    assert!(!backend.only_network().unwrap().is_disabled());
    // The newest goes before, and of two in one request the first.
    let again = json!([rule("deny", "a.lab.example"), rule("allow", "a.lab.example")]);
    let merged = ask(&client, &id, "PATCH", "/policy", again).await.json();
    assert_eq!(
        merged["policy"]["egress"],
        json!([rule("deny", "a.lab.example"), rule("deny", "b.lab.example")])
    );
    assert!(backend.only_network().unwrap().is_disabled());
    let left = ask(&client, &id, "DELETE", "/policy", json!(["a.lab.example", "none.lab.example"])).await;
    assert_eq!(left.json()["policy"]["egress"], json!([rule("deny", "b.lab.example")]));
    assert_eq!(ask(&client, &id, "PUT", "/policy", json!({"defaultAction": "deny"})).await.status, 200);
    assert_eq!(backend.only_network(), Some(NetworkPolicy::disabled()));
}

/// Otherwise an allowance that somebody took back would go on under another spelling.
#[tokio::test]
async fn targets_are_the_same_in_any_spelling() {
    let (client, backend) = client_under(&["*.lab.example", "192.0.2.0/24"]).await;
    let id = client.make(&json!({})).await;
    let both = json!([rule("allow", "A.Lab.example"), rule("allow", "192.0.2.7/24")]);
    assert_eq!(ask(&client, &id, "PATCH", "/policy", both).await.status, 200);
    let denied = json!([rule("deny", "a.lab.EXAMPLE.")]);
    let merged = ask(&client, &id, "PATCH", "/policy", denied).await.json();
    let left = json!([rule("deny", "a.lab.EXAMPLE."), rule("allow", "192.0.2.7/24")]);
    assert_eq!(merged["policy"]["egress"], left);
    let gone = ask(&client, &id, "DELETE", "/policy", json!(["a.lab.example", "192.0.2.0/24"])).await;
    assert_eq!(gone.json()["policy"]["egress"], json!([]));
    assert_eq!(backend.only_network(), Some(NetworkPolicy::disabled()));
}

#[tokio::test]
async fn blanks_around_a_target_do_not_count() {
    let (client, backend) = client_under(&["*.lab.example", "registries"]).await;
    let id = client.make(&json!({})).await;
    let both = json!([rule("allow", " a.lab.example "), rule("allow", "registries\t")]);
    let merged = ask(&client, &id, "PATCH", "/policy", both).await;
    assert_eq!(merged.status, 200, "{merged:?}");
    assert_eq!(merged.json()["policy"]["egress"][0], rule("allow", "a.lab.example"));
    assert!(backend.only_network().unwrap().registries);
    let left = ask(&client, &id, "DELETE", "/policy", json!([" a.lab.example", " registries "])).await;
    assert_eq!(left.json()["policy"]["egress"], json!([]));
    let whole = json!({"defaultAction": "deny", "egress": [rule("allow", " b.lab.example")]});
    assert_eq!(ask(&client, &id, "PUT", "/policy", whole).await.status, 200);
    assert_eq!(backend.only_network(), Some(NetworkPolicy::from_words(["b.lab.example"]).unwrap()));
}

#[tokio::test]
async fn changes_at_the_same_time_are_all_there() {
    let (client, backend) = client_under(&["*.lab.example"]).await;
    let id = client.make(&json!({})).await;
    let changes = (0..8).map(|number| {
        let rules = json!([rule("allow", &format!("{number}.lab.example"))]);
        ask(&client, &id, "PATCH", "/policy", rules)
    });
    for answer in futures_util::future::join_all(changes).await {
        assert_eq!(answer.status, 200, "{answer:?}");
    }
    let told = ask(&client, &id, "GET", "/policy", Value::Null).await.json();
    assert_eq!(told["policy"]["egress"].as_array().unwrap().len(), 8, "{told}");
    assert_eq!(backend.only_network().unwrap().rules.len(), 8);
}

#[tokio::test]
async fn nothing_passes_the_ceiling_and_nonsense_is_named() {
    let (client, backend) = client_under(&["*.lab.example"]).await;
    let id = client.make(&json!({})).await;
    for (method, body) in [
        ("PATCH", json!([rule("allow", "a.elsewhere")])),
        ("PATCH", json!([rule("allow", "*")])),
        ("PATCH", json!([rule("allow", "10.0.0.0/8")])),
        ("PUT", json!({"defaultAction": "allow"})),
        ("PUT", json!({"defaultAction": "ALLOW"})),
        ("PUT", json!({"defaultAction": 7})),
        ("PUT", json!({"egress": 7})),
        ("PUT", json!([])),
        ("PATCH", json!({})),
        ("PATCH", json!([{"action": "deny"}])),
        ("PATCH", json!([1])),
        ("DELETE", json!([1])),
        ("PATCH", json!([])),
        ("DELETE", json!([])),
    ] {
        let answer = ask(&client, &id, method, "/policy", body.clone()).await;
        assert_eq!(answer.status, 400, "{method} {body}");
    }
    assert!(backend.only_network().unwrap().is_disabled());
    assert_eq!(ask(&client, &id, "POST", "/credential-vault", json!({})).await.status, 501);
}

/// What allows everything to a sandbox that starts takes everything from one that runs.
#[tokio::test]
async fn an_empty_policy_resets_a_running_sandbox_to_nothing() {
    let (client, backend) = client_under(&["open"]).await;
    let id = client.make(&json!({"networkPolicy": {}})).await;
    let (name, token) = client.token(&id, super::super::EGRESS_PORT).await;
    for (method, body) in [("PUT", "{}"), ("POST", "null"), ("PUT", ""), ("POST", " ")] {
        let opened = ask(&client, &id, "PUT", "/policy", json!({"defaultAction": "allow"})).await;
        assert_eq!(opened.json()["mode"], "allow_all");
        assert_eq!(backend.only_network(), Some(NetworkPolicy::open()));
        let request = HttpRequest::builder()
            .method(method)
            .uri(format!("/v1/sandboxes/{id}/proxy/18080/policy"))
            .header("host", "localhost")
            .header(&name, &token);
        let reset = client.send(request.body(Body::from(body)).unwrap()).await;
        assert_eq!(reset.status, 200, "{body:?} {reset:?}");
        assert_eq!(reset.json()["mode"], "deny_all", "{body:?}");
        assert_eq!(backend.only_network(), Some(NetworkPolicy::disabled()), "{body:?}");
    }
}

#[tokio::test]
async fn rules_have_a_limit() {
    let (client, backend) = client_under(&["*.lab.example"]).await;
    let id = client.make(&json!({})).await;
    let many: Vec<_> = (0..5000).map(|number| rule("deny", &format!("{number}.lab.example"))).collect();
    let refused = ask(&client, &id, "PUT", "/policy", json!({"egress": many})).await;
    assert_eq!(refused.status, 413, "{refused:?}");
    assert!(refused.json()["message"].as_str().unwrap().contains("the limit is 4096"), "{refused:?}");
    assert!(backend.only_network().unwrap().rules.is_empty());
}

#[tokio::test]
async fn a_server_without_a_network_says_so() {
    let client = client().await;
    let id = client.make(&json!({"networkPolicy": {"defaultAction": "deny", "egress": []}})).await;
    let allow = json!([rule("allow", "a.lab.example")]);
    assert_eq!(ask(&client, &id, "PATCH", "/policy", allow).await.status, 400);
}

/// A change of other rules changes nothing about them.
#[tokio::test]
async fn packages_stay_when_rules_change() {
    let (client, backend) = client_with_network(&["registries"], &["registries", "*.lab.example"]).await;
    let id = client.make(&json!({})).await;
    for (method, body) in
        [("PATCH", json!([rule("allow", "a.lab.example")])), ("DELETE", json!(["a.lab.example"]))]
    {
        let changed = ask(&client, &id, method, "/policy", body).await;
        assert_eq!(changed.status, 200, "{changed:?}");
        assert!(backend.only_network().unwrap().registries, "{method}");
    }
    // Who gives a whole policy has said everything.
    assert_eq!(ask(&client, &id, "PUT", "/policy", json!({"defaultAction": "deny"})).await.status, 200);
    assert_eq!(backend.only_network(), Some(NetworkPolicy::disabled()));
}

#[tokio::test]
async fn packages_are_asked_for_and_given_back_by_their_word() {
    let (client, backend) = client_under(&["registries"]).await;
    let packages = json!({"defaultAction": "deny", "egress": [rule("allow", "registries")]});
    let id = client.make(&json!({"networkPolicy": packages})).await;
    assert!(backend.only_network().unwrap().registries);
    assert_eq!(ask(&client, &id, "GET", "/policy", Value::Null).await.json()["policy"], packages);
    assert_eq!(ask(&client, &id, "DELETE", "/policy", json!(["registries"])).await.status, 200);
    assert_eq!(backend.only_network(), Some(NetworkPolicy::disabled()));
    assert_eq!(ask(&client, &id, "PATCH", "/policy", json!([rule("allow", "registries")])).await.status, 200);
    assert!(backend.only_network().unwrap().registries);
    assert_eq!(ask(&client, &id, "PATCH", "/policy", json!([rule("deny", "registries")])).await.status, 200);
    assert_eq!(backend.only_network(), Some(NetworkPolicy::disabled()));
    let (client, _) = client_under(&["a.lab.example"]).await;
    let id = client.make(&json!({})).await;
    let answer = ask(&client, &id, "PATCH", "/policy", json!([rule("allow", "registries")])).await;
    assert_eq!(answer.status, 400);
    assert!(answer.json().to_string().contains("package registries"), "{answer:?}");
}

/// The token of the rules stands for the key that made the sandbox, as that key is now.
#[tokio::test]
async fn a_key_that_was_narrowed_opens_nothing_and_runs_nothing_where_more_is_open() {
    let (client, backend) = client_under(&["*.lab.example"]).await;
    let id = client.make(&json!({})).await;
    let (name, token) = client.token(&id, super::super::EGRESS_PORT).await;
    let (port, port_token) = client.token(&id, 8000).await;
    let (key, _) = client.store.create_key(sandgate_store::NewKey::default()).await.unwrap();
    let of = key.id.clone();
    client.leases.change_details(&id, move |details| details["key"] = json!(of)).await.unwrap();
    let change = async |rules: Value| {
        let uri = format!("/v1/sandboxes/{id}/proxy/18080/policy");
        let request = HttpRequest::patch(uri).header("host", "localhost").header(&name, &token);
        client.send(request.body(Body::from(rules.to_string())).unwrap()).await
    };
    assert_eq!(change(json!([rule("allow", "a.lab.example")])).await.status, 200);
    let narrow = |limits| {
        let network = Some(vec!["b.lab.example".to_owned()]);
        Ok::<_, ()>(sandgate_core::KeyLimits { network, ..limits })
    };
    client.store.change_key_limits(&key.id, narrow).await.unwrap().unwrap();
    let refused = change(json!([rule("allow", "c.lab.example")])).await;
    assert_eq!(refused.status, 400, "{refused:?}");
    assert!(refused.json().to_string().contains("this key may not have it"), "{refused:?}");
    assert_eq!(backend.only_network().unwrap().rules.len(), 1);
    let inside = async || client.inside(&id, 8000, "/", &[(&port, &port_token)]).await;
    let refused = inside().await;
    assert!(refused.json().to_string().contains("this key may not run code"), "{refused:?}");
    let fits = json!([rule("allow", "b.lab.example"), rule("deny", "a.lab.example")]);
    assert_eq!(change(fits).await.status, 200);
    assert!(!inside().await.json().to_string().contains("this key"));
}

//! Containers as clients of OpenAI's API know them.

use std::time::Duration;

use axum::http::Request;
use sandgate_core::{ContainerId, NewContainer, Owner};

use super::super::test_client::{client, client_with};
use super::*;

#[tokio::test]
async fn a_container_has_every_key_of_its_shape() {
    let client = client().await;
    let made = client.post("/v1/containers", json!({"name": "mine"})).await.good();
    let id = made["id"].as_str().unwrap();
    assert!(id.starts_with("cntr_") && id.len() == 53, "{id}");
    let expected = json!({
        "id": id, "object": "container", "created_at": made["created_at"], "status": "running",
        "expires_after": {"anchor": "last_active_at", "minutes": 20},
        "last_active_at": made["created_at"], "network_policy": {"type": "disabled"}, "name": "mine",
        "memory_limit": "1g",
    });
    assert_eq!(made, expected);
    assert_eq!(client.get(&format!("/v1/containers/{id}")).await.good(), expected);
}

#[test]
fn a_network_of_other_words_is_said_as_near_as_these_come() {
    let said = |words: &[&str]| network_policy(&NetworkPolicy::from_words(words.iter().copied()).unwrap());
    assert_eq!(said(&[]), json!({"type": "disabled"}));
    assert_eq!(said(&["open"]), json!({"type": "allowlist", "allowed_domains": ["*"]}));
    assert_eq!(
        said(&["*.a.example:8080", "192.0.2.0/24", "registries"]),
        json!({"type": "allowlist", "allowed_domains": ["*.a.example", "192.0.2.0/24", "registries"]})
    );
}

#[tokio::test]
async fn wishes_are_granted_and_said_back() {
    let client = client().await;
    let file = client.add_file("data.csv", b"1,2").await;
    let wish = json!({
        "name": "n", "file_ids": [file], "memory_limit": "4g", "network_policy": {"type": "disabled"},
        "expires_after": {"anchor": "last_active_at", "minutes": 5}, "skills": [],
    });
    let made = client.post("/v1/containers", wish).await.good();
    assert_eq!((&made["memory_limit"], &made["expires_after"]["minutes"]), (&json!("4g"), &json!(5)));
    let id = ContainerId::parse(made["id"].as_str().unwrap()).unwrap();
    let container = client.containers.get(&Owner::anonymous(), &id).unwrap();
    assert_eq!(container.spec().limits.memory_bytes, 4 << 30);
    assert_eq!(client.inside().content(&format!("/mnt/data/{file}-data.csv")).unwrap(), "1,2");
}

#[tokio::test]
async fn what_cannot_be_granted_is_refused_by_name() {
    let client = client().await;
    let rows = [
        (json!({}), "name", "missing_required_parameter"),
        (json!({"name": null}), "name", "invalid_type"),
        (json!({"name": 7}), "name", "invalid_type"),
        (json!({"name": "x".repeat(513)}), "name", "string_above_max_length"),
        (json!({"name": "n", "x": 1}), "x", "unknown_parameter"),
        (json!({"name": "n", "file_ids": "x"}), "file_ids", "invalid_type"),
        (json!({"name": "n", "file_ids": [1]}), "file_ids[0]", "invalid_type"),
        (json!({"name": "n", "file_ids": ["file-x"]}), "file_ids[0]", "file_not_found"),
        (json!({"name": "n", "file_ids": vec!["f"; 51]}), "file_ids", "array_above_max_length"),
        (json!({"name": "n", "memory_limit": "2g"}), "memory_limit", "invalid_value"),
        (json!({"name": "n", "memory_limit": "64g"}), "memory_limit", "invalid_value"),
        (json!({"name": "n", "network_policy": {}}), "network_policy.type", "missing_required_parameter"),
        (
            json!({"name": "n", "network_policy": {"type": "allowlist", "allowed_domains": ["a.b"]}}),
            "network_policy",
            "invalid_value",
        ),
        (json!({"name": "n", "skills": [{}]}), "skills", "unsupported_parameter"),
        (json!({"name": "n", "expires_after": 5}), "expires_after", "invalid_type"),
        (
            json!({"name": "n", "expires_after": {"minutes": 5}}),
            "expires_after.anchor",
            "missing_required_parameter",
        ),
    ];
    for (body, param, code) in rows {
        client.post("/v1/containers", body).await.refused(400, Some(param), Some(code));
    }
    for (minutes, code) in [
        (json!(0), "integer_below_min_value"),
        (json!(-1), "integer_below_min_value"),
        (json!(1441), "integer_above_max_value"),
        (json!(1.5), "invalid_type"),
        (json!(null), "invalid_type"),
    ] {
        let body = json!({"name": "n", "expires_after": {"anchor": "last_active_at", "minutes": minutes}});
        client.post("/v1/containers", body).await.refused(400, Some("expires_after.minutes"), Some(code));
    }
    assert_eq!(client.count_containers().await, 0, "nothing is left of a refusal");
}

#[tokio::test]
async fn a_container_whose_files_do_not_fit_is_not_made() {
    let client = client_with(|door| door.spec.limits.disk_bytes = 10).await;
    let file = client.add_file("x", &[0; 20]).await;
    let refused = client.post("/v1/containers", json!({"name": "n", "file_ids": [file]})).await;
    refused.refused(413, None, Some("content_too_large"));
    let gone = async {
        while client.count_containers().await > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(5), gone).await.unwrap();
}

#[tokio::test]
async fn lists_come_in_pages_and_by_name() {
    let client = client().await;
    let mut ids = Vec::new();
    for name in ["a", "b", "a"] {
        let made = client.post("/v1/containers", json!({"name": name})).await.good();
        ids.push(made["id"].as_str().unwrap().to_owned());
    }
    // Those of one second are listed by id.
    let all = client.get("/v1/containers?order=asc").await.good();
    let order: Vec<_> =
        all["data"].as_array().unwrap().iter().map(|c| c["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!((order.len(), &all["has_more"]), (3, &json!(false)));
    assert_eq!((&all["first_id"], &all["last_id"]), (&json!(order[0]), &json!(order[2])));
    let newest = client.get("/v1/containers?limit=1").await.good();
    assert_eq!((&newest["data"][0]["id"], &newest["has_more"]), (&json!(order[2]), &json!(true)));
    let next = client.get(&format!("/v1/containers?limit=1&after={}", order[2])).await.good();
    assert_eq!(next["data"][0]["id"], json!(order[1]));
    let named = client.get("/v1/containers?name=b").await.good();
    assert_eq!((&named["data"][0]["id"], named["data"].as_array().unwrap().len()), (&json!(ids[1]), 1));

    // A page goes on where a container was that is deleted by now.
    client.delete(&format!("/v1/containers/{}", order[1])).await.good();
    let next = client.get(&format!("/v1/containers?after={}", order[1])).await.good();
    assert_eq!((&next["first_id"], &next["last_id"]), (&json!(order[0]), &json!(order[0])));
    let next = client.get(&format!("/v1/containers?order=asc&after={}", order[1])).await.good();
    assert_eq!(next["last_id"], json!(order[2]));
    client.get("/v1/containers?after=x").await.refused(400, Some("after"), Some("invalid_value"));
    client.get("/v1/containers?limit=0").await.refused(400, Some("limit"), Some("integer_below_min_value"));
    client.get("/v1/containers?limit=101").await.refused(400, Some("limit"), Some("integer_above_max_value"));
}

#[tokio::test]
async fn what_is_deleted_or_anothers_does_not_exist() {
    let client = client().await;
    let id = client.add_container().await;
    let path = format!("/v1/containers/{id}");
    let paths = [
        path.clone(),
        format!("{path}/files"),
        format!("{path}/files/cfile_x"),
        format!("{path}/files/x/content"),
    ];
    for path in &paths {
        let refused = client.send_as("other", "GET", path, None).await.refused(404, None, None);
        assert_eq!(refused, format!("Container with id '{id}' not found."));
    }
    client.send_as("other", "DELETE", &path, None).await.refused(404, None, None);
    assert_eq!(client.send_as("other", "GET", "/v1/containers", None).await.good()["data"], json!([]));

    let deleted = client.delete(&path).await.good();
    assert_eq!(deleted, json!({"id": id, "object": "container.deleted", "deleted": true}));
    for path in &paths {
        client.get(path).await.refused(404, None, None);
    }
    client.delete(&path).await.refused(404, None, None);
    client.post(&paths[1], json!({"file_id": "x"})).await.refused(404, None, None);
    let odd = client.get("/v1/containers/a%20b").await.refused(404, None, None);
    assert_eq!(odd, "Container with id 'a b' not found.");
    client.get("/v1/containers/%ff").await.refused(404, None, Some("unknown_url"));
}

#[tokio::test]
async fn an_idle_container_wakes_or_is_lost_when_strict() {
    for strict in [false, true] {
        let client = client_with(|door| door.strict = strict).await;
        let new = NewContainer { idle: Some(Duration::ZERO), ..NewContainer::default() };
        let container = client.containers.create(new).await.unwrap();
        tokio::time::sleep(Duration::from_millis(1100)).await;
        let path = format!("/v1/containers/{}", container.id());
        let shown = client.get(&path).await.good();
        let files = client.get(&format!("{path}/files")).await;
        if strict {
            assert_eq!(shown["status"], "expired");
            assert_eq!(shown["last_active_at"], shown["created_at"], "looking does not bring it back");
            assert_eq!(files.refused(400, None, None), "Container is expired.");
        } else {
            assert_eq!(shown["status"], "running");
            assert!(shown["last_active_at"].as_u64() > shown["created_at"].as_u64(), "looking is using");
            assert_eq!(files.good()["data"], json!([]));
        }
        client.delete(&path).await.good();
    }
}

#[tokio::test]
async fn bodies_that_are_no_objects_are_refused_in_words() {
    let client = client().await;
    let post = async |kind: &str, body: &str| {
        let request =
            Request::post("/v1/containers").header("content-type", kind).body(body.to_owned().into());
        client.send(request.unwrap()).await
    };
    let json = "application/json; charset=utf-8";
    post(json, "{").await.refused(400, None, Some("invalid_json"));
    post(json, "\u{0}").await.refused(400, None, Some("invalid_json"));
    post(json, &"[".repeat(1000)).await.refused(400, None, Some("invalid_json"));
    post(json, "[]").await.refused(400, None, None);
    post(json, &" ".repeat(2 << 20)).await.refused(413, None, Some("content_too_large"));
    post("text/plain", "{}").await.refused(415, None, Some("unsupported_content_type"));
    let none = client.send(Request::post("/v1/containers").body("{}".into()).unwrap()).await;
    none.refused(415, None, Some("unsupported_content_type"));
}

#[tokio::test]
async fn every_answer_can_be_named() {
    let client = client().await;
    let answer = client.get("/v1/nothing").await;
    assert_eq!(answer.refused(404, None, Some("unknown_url")), "Invalid URL (GET /v1/nothing)");
    let id = answer.header("x-request-id");
    assert!(id.starts_with("req_") && id.len() == 36, "{id}");
    assert_eq!(answer.header("openai-version"), "2020-10-01");
    assert!(answer.header("openai-processing-ms").parse::<u64>().is_ok());
    assert_eq!(answer.header("x-content-type-options"), "nosniff");

    let wrong = client.send_as("", "PUT", "/v1/containers", None).await;
    wrong.refused(405, None, Some("method_not_allowed"));
    assert_eq!(wrong.header("allow"), "POST,GET,HEAD");
    for (given, kept) in [("mine-1", true), ("a b", false), (&*"x".repeat(200), false)] {
        let request = Request::get("/v1/containers").header("x-request-id", given).body("".into()).unwrap();
        assert_eq!(client.send(request).await.header("x-request-id") == given, kept, "{given}");
    }
}

//! The control plane as the SDKs use it: exact codes, and bodies that they can read.

use std::collections::BTreeSet;
use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use sandgate_core::network::NetworkPolicy;
use sandgate_core::{KeyLimits, OnEnd};
use sandgate_store::NewKey;
use serde_json::{Value, json};

use super::super::test_client::{Answer, Client, KEY, Made, client, client_under, client_with};
use super::super::{E2bSettings, HOME};

async fn sandbox(client: &Client, id: &str) -> Value {
    client.get(&format!("/sandboxes/{id}")).await.json()
}

fn ids(answer: &Answer) -> Vec<String> {
    let listed = answer.json();
    let ids = listed.as_array().unwrap_or(&Vec::new()).clone();
    ids.iter().map(|entry| entry["sandboxID"].as_str().unwrap().to_owned()).collect()
}

/// Whether it ends so many seconds from when that was said, which was a moment ago.
fn lasts(client: &Client, made: &Made, seconds: u64) -> bool {
    let lease = client.leases.find("e2b", &made.id).unwrap();
    let left = lease.ends_ms.unwrap().saturating_sub(sandgate_core::now_ms()).div_ceil(1000);
    (seconds.saturating_sub(30)..=seconds).contains(&left)
}

#[tokio::test]
async fn a_sandbox_is_made_found_and_killed() {
    let client = client().await;
    let body = json!({"templateID": "code-interpreter-v1", "timeout": 120, "metadata": {"n": "ž"},
                      "envVars": {"FOO": "bar"}, "allow_internet_access": true});
    let made = client.post("/v2/sandboxes", body).await;
    assert_eq!(made.status, 201);
    let made = made.json();
    for name in
        ["templateID", "sandboxID", "clientID", "envdVersion", "envdAccessToken", "trafficAccessToken"]
    {
        assert!(made[name].is_string(), "{name} {made}");
    }
    let id = made["sandboxID"].as_str().unwrap();
    assert!(id.starts_with('i') && id.len() == 21 && !id.contains('-'), "{id}");

    let shown = sandbox(&client, id).await;
    assert_eq!(shown["state"], "running");
    assert_eq!(shown["metadata"], json!({"n": "ž"}));
    assert_eq!(shown["lifecycle"], json!({"autoResume": false, "onTimeout": "kill"}));
    assert_eq!(shown["allowInternetAccess"], true);
    assert_eq!(shown["envdAccessToken"], made["envdAccessToken"]);
    // As older clients write it.
    assert_eq!(sandbox(&client, &format!("{id}-sandgate")).await["sandboxID"], id);

    let lease = client.leases.find("e2b", id).unwrap();
    let spec = client.leases.container(&lease).unwrap().spec().clone();
    assert_eq!(spec.working_dir.as_deref(), Some(HOME));
    assert_eq!(spec.limits.wall, E2bSettings::default().max_timeout);
    assert!(spec.env.contains(&("FOO".to_owned(), "bar".to_owned())));
    assert!(spec.env.contains(&("E2B_SANDBOX_ID".to_owned(), id.to_owned())));

    let path = format!("/sandboxes/{id}");
    assert_eq!(client.ask("e2b_bob", "DELETE", &path, None).await.status, 404);
    assert_eq!(client.ask(KEY, "DELETE", &path, None).await.status, 204);
    let again = client.ask(KEY, "DELETE", &path, None).await;
    assert_eq!((again.status, again.json()["code"].clone()), (404, json!(404)));
}

#[tokio::test]
async fn what_cannot_be_made_is_refused_with_its_reason() {
    let client = client().await;
    for (body, status, said) in [
        (json!({}), 400, "'templateID' is missing"),
        (json!({"templateID": "nope"}), 404, "template 'nope' not found"),
        (json!({"templateID": "base", "timeout": 86_401}), 400, "cannot be greater than 86400"),
        (json!({"templateID": "base", "timeout": -1}), 400, "'timeout' must be"),
        (json!({"templateID": "base", "metadata": {"a": 1}}), 400, "'metadata.a' must be"),
        (json!({"templateID": "base", "envVars": {"a=b": "1"}}), 400, "no name of a variable"),
        (json!({"templateID": "base", "envVars": {"a": "\0"}}), 400, "NUL"),
        (json!({"templateID": "base", "volumeMounts": [{"name": "v", "path": "/v"}]}), 400, "no volumes"),
        (json!({"templateID": "base", "network": {"allowOut": ["8.8.8.8"]}}), 400, "outside of what"),
        (json!({"templateID": "base", "network": {"deny_out": ["0.0.0.0/0"]}}), 400, "no field 'deny_out'"),
    ] {
        let answer = client.post("/v2/sandboxes", body.clone()).await;
        assert_eq!((answer.status, answer.json()["code"].clone()), (status, json!(status)), "{body}");
        assert!(answer.field("message").contains(said), "{body} {answer:?}");
    }
    for network in [json!({"denyOut": ["0.0.0.0/0"], "allowOut": []}), json!({"allowPublicTraffic": false})] {
        client.make(json!({"network": network})).await;
    }
}

#[tokio::test]
async fn a_body_must_be_json_and_declared_so() {
    let client = client().await;
    for (kind, body, said) in [
        ("text/plain", r#"{"templateID": "base"}"#, "Content-Type"),
        ("application/json", "{", "not valid JSON"),
        ("application/json", "[]", "a JSON object"),
    ] {
        let request =
            Request::post("/e2b/v2/sandboxes").header("x-api-key", KEY).header("content-type", kind);
        let answer = client.send(request.body(Body::from(body)).unwrap()).await;
        assert_eq!(answer.status, 400, "{body}");
        assert!(answer.field("message").contains(said), "{answer:?}");
    }
}

#[tokio::test]
async fn times_are_the_usual_ones_unless_said() {
    let client = client().await;
    let second = client.make(json!({})).await;
    assert!(lasts(&client, &second, 300));
    let first = client.post("/sandboxes", json!({"templateID": "base", "secure": true})).await.json();
    let lease = client.leases.find("e2b", first["sandboxID"].as_str().unwrap()).unwrap();
    assert_eq!(lease.ends_ms.unwrap() - lease.started_ms, 15_000);

    let path = format!("/sandboxes/{}/timeout", second.id);
    assert_eq!(client.post(&path, json!({"timeout": 20})).await.status, 204);
    assert!(lasts(&client, &second, 20));
    assert_eq!(client.post(&path, json!({})).await.status, 400);
    assert_eq!(client.post("/sandboxes/inone/timeout", json!({"timeout": 1})).await.status, 404);
    assert_eq!(client.post(&format!("/sandboxes/{}/refreshes", second.id), json!({})).await.status, 204);
    assert!(lasts(&client, &second, 60));
}

#[tokio::test]
async fn connecting_extends_and_never_shortens() {
    let client = client().await;
    let made = client.make(json!({"timeout": 1000})).await;
    let connect = format!("/v2/sandboxes/{}/connect", made.id);
    let answer = client.post(&connect, json!({})).await;
    assert_eq!((answer.status, answer.json()["envdAccessToken"].clone()), (200, json!(made.envd)));
    assert!(lasts(&client, &made, 1000));
    assert_eq!(client.post(&connect, json!({"timeout": 2000})).await.status, 200);
    assert!(lasts(&client, &made, 2000));
    assert_eq!(client.post(&format!("/sandboxes/{}/connect", made.id), json!({})).await.status, 400);
    assert_eq!(client.post("/v2/sandboxes/inone/connect", json!({})).await.status, 404);
}

#[tokio::test]
async fn a_sandbox_is_paused_once_and_resumed_by_connecting() {
    let client = client().await;
    let made = client.make(json!({})).await;
    let pause = format!("/sandboxes/{}/pause", made.id);
    assert_eq!(client.ask(KEY, "POST", &pause, None).await.status, 204);
    assert_eq!(client.post(&pause, json!({})).await.status, 409);
    assert_eq!(sandbox(&client, &made.id).await["state"], "paused");
    assert!(ids(&client.get("/sandboxes").await).is_empty());
    assert_eq!(ids(&client.get("/v2/sandboxes?state=paused").await), [made.id.as_str()]);
    let network = format!("/sandboxes/{}/network", made.id);
    assert_eq!(client.ask(KEY, "PUT", &network, Some(json!({}))).await.status, 409);

    let connect = format!("/v2/sandboxes/{}/connect", made.id);
    assert_eq!(client.post(&connect, json!({"timeout": 77})).await.status, 201);
    assert!(lasts(&client, &made, 77));
    let resume = format!("/sandboxes/{}/resume", made.id);
    assert_eq!(client.post(&resume, json!({"timeout": 5})).await.status, 409);
    client.post(&pause, json!({})).await;
    assert_eq!(client.post(&resume, json!({"timeout": 5})).await.status, 201);
}

#[tokio::test]
async fn what_is_paused_without_its_memory_is_not_resumed_by_traffic() {
    let client = client().await;
    let made = client.make(json!({"autoPause": true, "autoResume": {"enabled": true}})).await;
    let pause = format!("/sandboxes/{}/pause", made.id);
    assert_eq!(client.post(&pause, json!({"memory": "no"})).await.status, 400);
    assert_eq!(client.post(&pause, json!({"memory": false})).await.status, 204);
    assert!(client.leases.find("e2b", &made.id).unwrap().files_only);

    let made = client.make(json!({"autoPause": true, "autoPauseMemory": false})).await;
    assert_eq!(client.leases.find("e2b", &made.id).unwrap().on_end, OnEnd::PauseFiles);
    assert_eq!(sandbox(&client, &made.id).await["lifecycle"]["onTimeout"], "pause");
    let both = json!({"templateID": "base", "autoPause": true, "autoPauseMemory": false,
        "autoResume": {"enabled": true}});
    let refused = client.post("/v2/sandboxes", both).await;
    assert_eq!(refused.status, 400);
    assert!(refused.json()["message"].as_str().unwrap().contains("autoPauseMemory"));
}

#[tokio::test]
async fn the_list_is_filtered_and_comes_in_pages() {
    let client = client().await;
    let mut made = Vec::new();
    for number in 0..5 {
        let metadata = json!({"even": (number % 2 == 0).to_string(), "name": "a b&c=d"});
        made.push(client.make(json!({"metadata": metadata})).await.id);
    }
    client.ask("e2b_bob", "POST", "/v2/sandboxes", Some(json!({"templateID": "base"}))).await;

    let mut seen = Vec::new();
    let mut token = String::new();
    loop {
        let page = client.get(&format!("/v2/sandboxes?limit=2&nextToken={token}")).await;
        assert_eq!(page.headers["x-total-running"], "5");
        seen.extend(ids(&page));
        match page.headers.get("x-next-token") {
            Some(next) => token = next.to_str().unwrap().to_owned(),
            None => break,
        }
    }
    let mut all = seen.clone();
    all.sort();
    all.dedup();
    assert_eq!((seen.len(), all.len()), (5, 5));
    assert_eq!(client.get("/v2/sandboxes?order=asc").await.json()[0]["sandboxID"], *seen.last().unwrap());

    let even = "/v2/sandboxes?metadata=even%3Dtrue%26name%3Da%252520b%252526c%25253Dd&state=running";
    assert_eq!(ids(&client.get(even).await).len(), 3);
    assert!(ids(&client.get("/sandboxes?metadata=even%3Dmaybe").await).is_empty());
    assert!(ids(&client.get("/v2/sandboxes?startedAfter=2999-01-01T00%3A00%3A00Z").await).is_empty());
    assert!(ids(&client.get("/v2/sandboxes?template=other").await).is_empty());
    for wrong in
        ["limit=0", "limit=101", "limit=x", "state=gone", "order=up", "nextToken=%21", "startedAfter=x"]
    {
        assert_eq!(client.get(&format!("/v2/sandboxes?{wrong}")).await.status, 400, "{wrong}");
    }
}

#[tokio::test]
async fn the_same_request_under_one_key_makes_one_sandbox() {
    let client = client().await;
    let ask = async |key: &str, timeout: u64| {
        let body = json!({"templateID": "base", "timeout": timeout}).to_string();
        let request = Request::post("/e2b/v2/sandboxes")
            .header("x-api-key", KEY)
            .header("content-type", "application/json")
            .header("idempotency-key", key);
        client.send(request.body(Body::from(body)).unwrap()).await
    };
    let (first, second) = tokio::join!(ask("a-1", 60), ask("a-1", 60));
    assert_eq!((first.status, second.status), (201, 201));
    assert_eq!(first.json(), second.json());
    assert_ne!(ask("a-2", 60).await.json()["sandboxID"], first.json()["sandboxID"]);
    assert_eq!(ask("a-1", 61).await.status, 422);
    assert_eq!(ask("a b", 60).await.status, 400);
    assert_eq!(client.leases.all("e2b").len(), 2);
}

#[tokio::test]
async fn keys_are_asked_for_where_there_are_keys() {
    let client = client_with(E2bSettings::default(), Some("master")).await;
    let limits = KeyLimits { sandboxes: Some(1), memory_bytes: Some(128 << 20), ..KeyLimits::default() };
    let new = NewKey { name: "k".to_owned(), limits, ..NewKey::default() };
    let (_, secret) = client.store.create_key(new).await.unwrap();

    let body = || Some(json!({"templateID": "base"}));
    let none = client.ask("", "POST", "/v2/sandboxes", body()).await;
    assert_eq!((none.status, none.json()["code"].clone()), (401, json!(401)));
    let wrong = client.ask("e2b_wrong_and_long", "GET", "/v2/sandboxes", None).await;
    assert_eq!((wrong.status, wrong.field("message").contains("wrong")), (401, false));

    let made = client.ask(secret.expose(), "POST", "/v2/sandboxes", body()).await;
    assert_eq!(made.status, 201);
    let id = made.json()["sandboxID"].as_str().unwrap().to_owned();
    let shown = client.ask(secret.expose(), "GET", &format!("/sandboxes/{id}"), None).await.json();
    assert_eq!(shown["memoryMB"], 128);
    let more = client.ask(secret.expose(), "POST", "/v2/sandboxes", body()).await;
    assert_eq!((more.status, more.headers["should-retry"].to_str().unwrap()), (429, "false"));
    // Not even the operator's key finds another's.
    assert_eq!(client.ask("master", "GET", &format!("/sandboxes/{id}"), None).await.status, 404);
    assert_eq!(client.ask("", "GET", "/health", None).await.status, 200);
}

#[tokio::test]
async fn without_keys_only_names_of_this_machine_and_the_domain_are_answered() {
    let settings = E2bSettings { domain: Some("sbx.test:8443".to_owned()), ..E2bSettings::default() };
    let client = client_with(settings, None).await;
    let ask = async |host: &str, path: &str| {
        let request = Request::get(path).header("host", host).header("x-api-key", KEY);
        client.send(request.body(Body::empty()).unwrap()).await
    };
    assert_eq!(ask("localhost:4000", "/e2b/v2/sandboxes").await.status, 200);
    assert_eq!(ask("api.sbx.test:8443", "/v2/sandboxes").await.status, 200);
    let foreign = ask("evil.example", "/e2b/v2/sandboxes").await;
    assert_eq!((foreign.status, foreign.json()["code"].clone()), (421, json!(421)));
    let made = client.post("/v2/sandboxes", json!({"templateID": "base"})).await.json();
    assert_eq!(made["domain"], "sbx.test:8443");
}

#[tokio::test]
async fn a_network_is_updated_as_far_as_there_is_one() {
    let client = client().await;
    let made = client.make(json!({"network": {"allowPublicTraffic": false, "denyOut": ["1.1.1.1"]}})).await;
    let path = format!("/sandboxes/{}/network", made.id);
    let put = async |body: Value| client.ask(KEY, "PUT", &path, Some(body)).await.status;
    assert_eq!(put(json!({"denyOut": ["8.8.8.8"], "allow_internet_access": false})).await, 204);
    let shown = sandbox(&client, &made.id).await;
    assert_eq!(shown["network"], json!({"denyOut": ["8.8.8.8"], "allowPublicTraffic": false}));
    assert_eq!(shown["allowInternetAccess"], false);
    assert_eq!(put(json!({"allowOut": ["example.com"]})).await, 400);
    assert_eq!(client.ask(KEY, "PUT", "/sandboxes/inone/network", Some(json!({}))).await.status, 404);
}

#[tokio::test]
async fn what_an_update_of_the_network_leaves_out_is_cleared() {
    let client = client_under(&["open"]).await;
    let made = client.make(json!({"allow_internet_access": true})).await;
    assert_eq!(client.backend.only_network(), Some(NetworkPolicy::open()));
    let path = format!("/sandboxes/{}/network", made.id);
    let put = async |body: Value| client.ask(KEY, "PUT", &path, Some(body)).await.status;
    assert_eq!(put(json!({"denyOut": ["0.0.0.0/0"]})).await, 204);
    assert!(client.backend.only_network().unwrap().is_disabled());
    assert_eq!(put(json!({})).await, 204);
    assert_eq!(client.backend.only_network(), Some(NetworkPolicy::open()));
    assert_eq!(put(json!({"allow_internet_access": false})).await, 204);
    assert!(client.backend.only_network().unwrap().is_disabled());
    // Who may reach it is no part of an update.
    assert_eq!(put(json!({"allowPublicTraffic": false, "httpsPorts": [8443]})).await, 204);
    assert_eq!(client.backend.only_network(), Some(NetworkPolicy::open()));
    assert_eq!(sandbox(&client, &made.id).await["network"], json!({}));
}

/// An update that says nothing gives what a request that says nothing is given.
#[tokio::test]
async fn an_empty_update_opens_no_more_than_the_sandbox_was_made_with() {
    let client = client_under(&["open"]).await;
    for made_with in [json!({}), json!({"allow_internet_access": false})] {
        let made = client.make(made_with.clone()).await;
        let path = format!("/sandboxes/{}/network", made.id);
        for body in [json!({}), json!({"denyOut": ["8.8.8.8"]})] {
            assert_eq!(client.ask(KEY, "PUT", &path, Some(body)).await.status, 204);
            assert!(client.backend.only_network().unwrap().is_disabled(), "{made_with}");
            assert_eq!(sandbox(&client, &made.id).await["allowInternetAccess"], json!(null));
        }
        assert_eq!(client.ask(KEY, "DELETE", &format!("/sandboxes/{}", made.id), None).await.status, 204);
    }
}

#[tokio::test]
async fn an_update_of_the_network_is_on_record_also_when_the_client_hangs_up() {
    let client = client_under(&["open"]).await;
    let made = client.make(json!({"allow_internet_access": true})).await;
    let path = format!("/sandboxes/{}/network", made.id);
    let network = json!({"denyOut": ["0.0.0.0/0"]});
    let enforced = async {
        while !client.backend.only_network().unwrap().is_disabled() {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        biased;
        () = enforced => {}
        answer = client.ask(KEY, "PUT", &path, Some(network.clone())) => panic!("too fast: {answer:?}"),
    }
    let recorded = async {
        while sandbox(&client, &made.id).await["network"] != network {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), recorded).await.unwrap();
}

#[tokio::test]
async fn metrics_and_logs_have_their_shapes() {
    let client = client().await;
    let made = client.make(json!({})).await;
    // This backend measures nothing.
    let metrics = client.get(&format!("/sandboxes/{}/metrics", made.id)).await;
    assert_eq!((metrics.status, metrics.json()), (200, json!([])));
    assert_eq!(client.get(&format!("/sandboxes/{}/metrics?start=9&end=8", made.id)).await.status, 400);
    let several = client.get(&format!("/sandboxes/metrics?sandbox_ids={},inone", made.id)).await.json();
    assert_eq!(several, json!({"sandboxes": {}}));
    let logs = client.get(&format!("/sandboxes/{}/logs", made.id)).await.json();
    assert_eq!(logs, json!({"logs": [], "logEntries": []}));
    assert_eq!(client.get(&format!("/v2/sandboxes/{}/logs", made.id)).await.json(), json!({"logs": []}));
    for path in ["/sandboxes/inone/logs", "/sandboxes/inone/metrics", "/v2/sandboxes/inone/logs"] {
        assert_eq!(client.get(path).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn templates_are_those_of_the_sdks_and_of_the_operator() {
    let templates = BTreeSet::from(["mine".to_owned()]);
    let client = client_with(E2bSettings { templates, ..E2bSettings::default() }, None).await;
    assert_eq!(client.get("/templates").await.json().as_array().unwrap().len(), 4);
    client.make(json!({"templateID": "mine"})).await;
    client.make(json!({"templateID": "base:latest"})).await;
    assert_eq!(client.get("/templates/aliases/mine").await.json()["templateID"], "mine");
    assert_eq!(client.get("/templates/aliases/nope").await.status, 404);
    assert_eq!(client.get("/templates/nope").await.status, 404);
    assert_eq!(client.ask(KEY, "DELETE", "/templates/nope", None).await.status, 404);
    assert_eq!(client.ask(KEY, "DELETE", "/templates/mine", None).await.status, 403);
}

#[tokio::test]
async fn what_is_not_here_says_so() {
    let client = client().await;
    for path in [
        "/v3/templates",
        "/v2/templates/x/builds/y",
        "/templates/tags",
        "/volumes",
        "/secrets",
        "/teams",
        "/api-keys",
        "/nodes",
    ] {
        let answer = client.post(path, json!({})).await;
        assert_eq!((answer.status, answer.json()["code"].clone()), (501, json!(501)), "{path}");
        assert!(!answer.field("message").is_empty());
    }
    assert_eq!(client.get("/no/such/path").await.json()["code"], 404);
    assert_eq!(client.get("/sandboxes/%ff%fe").await.json()["code"], 404);
    assert_eq!(client.ask(KEY, "PATCH", "/sandboxes", None).await.json()["code"], 405);
    assert_eq!(client.get("/snapshots").await.json(), json!([]));
}

#[tokio::test]
async fn the_longest_time_is_the_operators() {
    let settings = E2bSettings { max_timeout: Duration::from_secs(100), ..E2bSettings::default() };
    let client = client_with(settings, None).await;
    let made = client.make(json!({"timeout": 100})).await;
    let connect = format!("/v2/sandboxes/{}/connect", made.id);
    assert_eq!(client.post(&connect, json!({"timeout": 101})).await.status, 400);
    // What nobody said cannot be too long.
    assert_eq!(client.post(&connect, json!({})).await.status, 200);
    assert!(lasts(&client, &made, 100));
    let usual = client.make(json!({})).await;
    assert!(lasts(&client, &usual, 100));
}

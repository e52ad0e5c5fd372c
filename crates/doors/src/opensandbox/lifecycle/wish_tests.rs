//! What may be asked for, and what is said to the rest.

use super::super::super::test_client::{client, client_with, least, least_with};
use super::*;

fn read(more: &Value, key: &KeyLimits) -> Answered<Wish> {
    let Value::Object(fields) = least_with(more) else { panic!("an object") };
    Wish::read(&Fields(fields), &OpenSandboxSettings::default(), &Limits::default(), key)
}

fn said(more: &Value) -> String {
    format!("{:?}", read(more, &KeyLimits::default()).unwrap_err())
}

#[test]
fn sizes_are_within_what_server_and_key_allow() {
    let wish = read(&json!({}), &KeyLimits::default()).unwrap();
    assert_eq!((wish.limits.memory_bytes, wish.limits.cpu_millis), (512 << 20, 500));
    let plain = read(&json!({"resourceLimits": {}}), &KeyLimits::default()).unwrap();
    let wall = OpenSandboxSettings::default().max_timeout;
    assert_eq!(plain.limits, Limits { wall, ..Limits::default() });
    let small = KeyLimits { memory_bytes: Some(256 << 20), ..KeyLimits::default() };
    assert!(format!("{:?}", read(&json!({}), &small).unwrap_err()).contains("256 MiB"));
    assert_eq!(read(&json!({"resourceLimits": {}}), &small).unwrap().limits.memory_bytes, 256 << 20);
    for (name, value) in
        [("memory", "9Gi"), ("memory", "1Mi"), ("memory", "lots"), ("cpu", "64"), ("cpu", "1m"), ("gpu", "1")]
    {
        assert!(said(&json!({"resourceLimits": {name: value}})).contains(name), "{name} {value}");
    }
}

#[test]
fn time_variables_and_entrypoint() {
    assert_eq!(read(&json!({"timeout": null}), &KeyLimits::default()).unwrap().timeout, None);
    for timeout in [json!(59), json!(0), json!(-1), json!("300"), json!(1.5)] {
        assert!(said(&json!({"timeout": timeout})).contains("timeout"), "{timeout}");
    }
    assert!(said(&json!({"timeout": 999_999})).contains("86400"));
    let env = read(&json!({"env": {"A": "b", "NONE": null}}), &KeyLimits::default()).unwrap().env;
    assert_eq!(env, BTreeMap::from([("A".to_owned(), "b".to_owned())]));
    assert!(said(&json!({"env": {"A=B": "c"}})).contains("env"));
    assert!(said(&json!({"entrypoint": []})).contains("too_short"));
    assert!(said(&json!({"entrypoint": [""]})).contains("INVALID_ENTRYPOINT"));
    assert!(said(&json!({"entrypoint": ["a", 1]})).contains("string_type"));
    let python = read(&json!({"image": {"uri": "python:3.12"}}), &KeyLimits::default()).unwrap();
    assert_eq!(python.env["PYTHON_VERSION"], "3.12");
    let both = json!({"image": {"uri": "python:3.12"}, "env": {"PYTHON_VERSION": "3.11"}});
    assert_eq!(read(&both, &KeyLimits::default()).unwrap().env["PYTHON_VERSION"], "3.11");
}

#[test]
fn what_cannot_be_had_is_named() {
    for (more, word) in [
        (json!({"snapshotId": "s"}), "Exactly one"),
        (json!({"image": null}), "Exactly one"),
        (json!({"image": {"uri": " "}}), "Exactly one"),
        (json!({"image": {}}), "missing"),
        (json!({"entrypoint": null}), "Entrypoint is required"),
        (json!({"resourceLimits": null}), "resourceLimits is required"),
        (json!({"templateId": "t"}), "templates"),
        (json!({"extensions": {"poolRef": "p"}}), "pools"),
        (json!({"volumes": [{"name": "d"}]}), "VOLUME::UNSUPPORTED_BACKEND"),
        (json!({"lifecycle": {"preStart": {}}}), "lifecycle"),
        (json!({"credentialProxy": {"enabled": true}}), "credentialProxy"),
        (json!({"platform": {"os": "windows", "arch": "amd64"}}), "platform"),
        (json!({"metadata": {"k": "v&1"}}), "INVALID_METADATA_LABEL"),
        (json!({"metadata": {"k": 1}}), "string_type"),
        (json!({"extensions": {"access.renew.extend.seconds": "10"}}), "between 300 and 86400"),
        (json!({"image": {"uri": "nginx"}}), "nginx"),
        (json!({"networkPolicy": {"defaultAction": "maybe"}}), "defaultAction"),
        (json!({"secureAccess": "yes"}), "secureAccess"),
    ] {
        assert!(said(&more).contains(word), "{more}: {}", said(&more));
    }
    for more in [
        json!({"image": null, "snapshotId": "s"}),
        json!({"image": null, "snapshotId": "s", "entrypoint": null}),
        json!({"volumes": []}),
        json!({"secureAccess": true}),
        json!({"unknown": 1}),
    ] {
        assert!(read(&more, &KeyLimits::default()).is_ok(), "{more}");
    }
}

#[tokio::test]
async fn all_problems_are_told_at_once() {
    let client = client().await;
    let answer =
        client.post("/v1/sandboxes", least_with(&json!({"timeout": 5, "metadata": [], "image": {}}))).await;
    assert_eq!(answer.status, 422);
    let detail = answer.json();
    let mut places: Vec<_> =
        detail["detail"].as_array().unwrap().iter().map(|problem| problem["loc"].to_string()).collect();
    places.sort();
    assert_eq!(places, [r#"["body","image","uri"]"#, r#"["body","metadata"]"#, r#"["body","timeout"]"#]);
}

#[tokio::test]
async fn a_key_has_as_many_sandboxes_as_it_may() {
    let backend = std::sync::Arc::new(sandgate_core::testing::ScriptedBackend::default());
    let client = client_with(backend, OpenSandboxSettings::default(), Some("the-master-key")).await;
    let limits = KeyLimits { sandboxes: Some(1), ..KeyLimits::default() };
    let new = sandgate_store::NewKey { limits, ..sandgate_store::NewKey::default() };
    let (_, secret) = client.store.create_key(new).await.unwrap();
    assert_eq!(client.ask(secret.expose(), "POST", "/v1/sandboxes", Some(least())).await.status, 202);
    let second = client.ask(secret.expose(), "POST", "/v1/sandboxes", Some(least())).await;
    assert_eq!((second.status, second.field("code").as_str()), (429, "SANDBOX::QUOTA_EXCEEDED"));
}

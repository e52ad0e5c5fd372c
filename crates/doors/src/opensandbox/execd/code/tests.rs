//! The routes as a client meets them, over a backend without processes.

use serde_json::{Value, json};

use super::super::double::{plain, scripted};

fn python(code: &str) -> Value {
    json!({"code": code, "context": {"language": "python"}})
}

#[tokio::test]
async fn code_is_told_as_it_runs_and_its_values_by_their_types() {
    let world = scripted().await;
    let events = world.told("POST /code", &python("hello value:4")).await;
    assert_eq!(events[0]["type"], "init");
    assert_eq!(events[0]["text"], "default");
    assert_eq!(events[1]["type"], "ping");
    let kinds: Vec<_> = plain(&events).into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, ["init", "stdout", "execution_count", "result", "execution_complete"]);
    assert_eq!(events[2]["text"], "hello\n");
    assert_eq!(events[4]["results"], json!({"text": "'4'"}));
    assert!(events[5]["execution_time"].as_u64().unwrap() >= 1);
    assert!(events.iter().all(|event| event["timestamp"].as_u64().unwrap() > 1_700_000_000_000));
}

#[tokio::test]
async fn what_code_raises_is_its_end() {
    let world = scripted().await;
    let events = world.told("POST /code", &python("raise")).await;
    let last = events.last().unwrap();
    assert_eq!(last["type"], "error");
    let error =
        json!({"ename": "ValueError", "evalue": "told to", "traceback": ["first line", "second line"]});
    assert_eq!(last["error"], error);
    let events = world.told("POST /code", &python("die")).await;
    assert_eq!(events.last().unwrap()["error"]["ename"], "UnexpectedEndOfExecution");
    let events = world.told("POST /code", &python("break")).await;
    assert_eq!(events.last().unwrap()["error"]["ename"], "UnexpectedEndOfExecution");
}

#[tokio::test]
async fn a_context_runs_one_thing_at_a_time_and_says_so_in_the_known_words() {
    let world = scripted().await;
    let mut first = world.stream("POST /code", &python("hang")).await;
    assert_eq!(first.next().await.unwrap()["type"], "init");
    let events = world.told("POST /code", &python("x")).await;
    assert_eq!(events[0]["type"], "init");
    let last = json!({"code": "RUNTIME_ERROR", "message": "error running codes session is busy"});
    assert_eq!(*events.last().unwrap(), last);
    // Nothing else is held up, and whoever goes away leaves the context free.
    let (_, context) = world.json("POST /code/context", &json!({"language": "python"})).await;
    let other = json!({"code": "x", "context": {"id": context["id"], "language": "python"}});
    assert_eq!(world.told("POST /code", &other).await[0]["text"], context["id"]);
    drop(first);
    assert_eq!(world.told("POST /code", &python("x")).await.last().unwrap()["type"], "execution_complete");
}

#[tokio::test]
async fn contexts_are_made_listed_and_removed() {
    let world = scripted().await;
    let (status, made) = world.json("POST /code/context", &json!({"language": "python"})).await;
    assert_eq!((status, &made["language"]), (200, &json!("python")));
    let id = made["id"].as_str().unwrap();
    assert_eq!(world.json("GET /code/contexts?language=python", &Value::Null).await, (200, json!([made])));
    assert_eq!(world.json("GET /code/contexts?language=go", &Value::Null).await, (200, json!([])));
    assert_eq!(world.json(&format!("GET /code/contexts/{id}"), &Value::Null).await, (200, made.clone()));
    assert_eq!(world.json(&format!("DELETE /code?id={id}"), &Value::Null).await, (200, Value::Null));
    assert_eq!(world.json(&format!("DELETE /code/contexts/{id}"), &Value::Null).await, (200, Value::Null));
    for method in ["GET", "DELETE"] {
        let (status, body) = world.json(&format!("{method} /code/contexts/{id}"), &Value::Null).await;
        assert_eq!((status, &body["code"]), (404, &json!("CONTEXT_NOT_FOUND")));
    }
    world.json("POST /code/context", &json!({"language": "python"})).await;
    assert_eq!(world.json("DELETE /code/contexts?language=python", &Value::Null).await, (200, Value::Null));
    assert_eq!(world.json("GET /code/contexts", &Value::Null).await, (200, json!([])));
}

#[tokio::test]
async fn what_cannot_be_is_refused_at_once() {
    let world = scripted().await;
    let rows = [
        ("POST /code/context", json!({"language": "cobol"}), 400, "NOT_SUPPORTED"),
        ("POST /code/context", json!({}), 400, "INVALID_REQUEST_BODY"),
        ("POST /code", json!({"code": "x", "context": {"language": "cobol"}}), 400, "NOT_SUPPORTED"),
        ("POST /code", json!({"code": "x", "context": {"language": "a b/c"}}), 400, "NOT_SUPPORTED"),
        (
            "POST /code",
            json!({"code": "x", "context": {"id": "no", "language": "python"}}),
            500,
            "RUNTIME_ERROR",
        ),
        // Without a language it is a command, and here there are none.
        ("POST /code", json!({"code": "x", "context": {"id": "no"}}), 501, "NOT_SUPPORTED"),
        ("POST /code", json!({"context": {"language": "python"}}), 400, "INVALID_REQUEST_BODY"),
        ("POST /code", json!([]), 400, "INVALID_REQUEST_BODY"),
        ("POST /code", python("fail"), 500, "RUNTIME_ERROR"),
        ("DELETE /code", Value::Null, 400, "MISSING_QUERY"),
        ("DELETE /code?id=no", Value::Null, 500, "RUNTIME_ERROR"),
        ("DELETE /code/contexts", Value::Null, 400, "MISSING_QUERY"),
        ("GET /v1/isolated/capabilities", Value::Null, 503, "NOT_SUPPORTED"),
        ("POST /ping", Value::Null, 404, "NOT_SUPPORTED"),
        ("GET /nowhere", Value::Null, 404, "NOT_SUPPORTED"),
    ];
    for (head, body, status, code) in rows {
        let (given, said) = world.json(head, &body).await;
        assert_eq!((given, &said["code"]), (status, &json!(code)), "{head} {body}: {said}");
        assert!(!said.to_string().contains("secret"));
    }
    assert_eq!(world.json("GET /ping", &Value::Null).await, (200, Value::Null));
    // The claim of the one that failed is gone.
    assert_eq!(world.told("POST /code", &python("x")).await.last().unwrap()["type"], "execution_complete");
}

#[tokio::test]
async fn what_is_remembered_goes_with_the_sandbox() {
    let world = scripted().await;
    world.told("POST /code", &python("x")).await;
    assert_eq!(world.places.count(), 1);
    world.end().await;
    super::super::double::until(async || world.places.count() == 0).await;
    assert_eq!(world.json("GET /code/contexts", &Value::Null).await.0, 404);
}

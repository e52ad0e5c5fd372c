use serde_json::{Value, json};

use super::super::double::{World, local, plain};

async fn new(world: &World, body: Value) -> String {
    let (status, body) = world.json("POST /session", &body).await;
    assert_eq!(status, 200);
    body["session_id"].as_str().unwrap().to_owned()
}

async fn run(world: &World, id: &str, command: &str) -> (Vec<String>, Value) {
    let events = world.told(&format!("POST /session/{id}/run"), &json!({ "command": command })).await;
    assert_eq!((&events[0]["type"], &events[0]["text"]), (&json!("init"), &json!(id)));
    let said =
        plain(&events).into_iter().filter(|(kind, _)| *kind == "stdout").map(|(_, text)| text.to_owned());
    (said.collect(), events.last().unwrap().clone())
}

#[tokio::test]
async fn a_session_keeps_its_folder_and_what_is_exported() {
    let world = local().await;
    let id = new(&world, Value::Null).await;
    let (said, last) = run(&world, &id, "export X='a b'; cd /; y=1; echo $FOO; echo err >&2").await;
    assert_eq!(said, ["bar", "err"], "both are one stream");
    assert_eq!(last["type"], "execution_complete");
    assert_eq!(run(&world, &id, "echo \"$X|$y\"; pwd").await.0, ["a b|", "/"]);
    // A command that ends its shell ends nothing else.
    let (_, last) = run(&world, &id, "cd /usr; export Z=\"it's\"; exit 7").await;
    assert_eq!(last["error"]["evalue"], "7");
    assert_eq!(run(&world, &id, "echo $Z; pwd").await.0, ["it's", "/usr"]);
    assert_eq!(run(&world, &id, "false").await.1["error"]["evalue"], "1");
    let other = new(&world, json!({})).await;
    assert_eq!(run(&world, &other, "echo \"$X\"").await.0, ["\n"], "sessions do not share");
    let gone = world.json(&format!("DELETE /session/{id}"), &Value::Null).await;
    assert_eq!(gone, (200, Value::Null));
    let (status, said) = world.json(&format!("DELETE /session/{id}"), &Value::Null).await;
    assert_eq!((status, &said["code"]), (404, &json!("CONTEXT_NOT_FOUND")));
    let run = json!({"command": "true"});
    assert_eq!(world.json(&format!("POST /session/{id}/run"), &run).await.0, 404);
    std::fs::remove_file(format!("/tmp/.opensandbox-session-{other}")).unwrap();
}

#[tokio::test]
async fn a_command_in_a_session_has_limits_of_its_own() {
    let world = local().await;
    let id = new(&world, json!({"cwd": "/tmp/made/here"})).await;
    let head = format!("POST /session/{id}/run");
    let events = world.told(&head, &json!({"command": "sleep 60", "timeout": 50})).await;
    assert_eq!(events.last().unwrap()["error"]["evalue"], "-1");
    let (said, _) = run(&world, &id, "pwd").await;
    assert!(said[0].ends_with("/tmp/made/here"), "{said:?}");
    assert_eq!(world.json(&head, &json!({"command": ""})).await.0, 400);
    assert_eq!(world.json(&head, &json!({"command": "x", "cwd": "/nowhere"})).await.0, 400);
    let mut told = world.stream(&head, &json!({"command": "echo up; sleep 60"})).await;
    while told.next().await.unwrap()["text"] != "up" {}
    assert_eq!(world.json(&format!("DELETE /command?id={id}"), &Value::Null).await.0, 200);
    assert_eq!(told.rest().await.last().unwrap()["type"], "error");
    std::fs::remove_file(format!("/tmp/.opensandbox-session-{id}")).unwrap();
}

#[tokio::test]
async fn there_are_only_so_many_sessions() {
    let world = local().await;
    for _ in 0..super::MOST {
        new(&world, Value::Null).await;
    }
    assert_eq!(world.json("POST /session", &Value::Null).await.0, 429);
}

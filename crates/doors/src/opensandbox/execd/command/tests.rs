//! Commands as a client meets them, as ordinary processes.

use serde_json::{Value, json};

use super::super::double::{World, local, plain, until};

fn id(events: &[Value]) -> String {
    assert_eq!(events[0]["type"], "init");
    events[0]["text"].as_str().unwrap().to_owned()
}

async fn status(world: &World, id: &str) -> Value {
    let (status, body) = world.json(&format!("GET /command/status/{id}"), &Value::Null).await;
    assert_eq!(status, 200);
    body
}

#[tokio::test]
async fn a_command_is_told_line_by_line() {
    let world = local().await;
    let command = r"printf 'a\n\nb\n'; printf 'c' >&2; echo $FOO-$X; pwd";
    let events =
        world.told("POST /command", &json!({"command": command, "envs": {"X": "1"}, "cwd": "/tmp"})).await;
    let said: Vec<_> =
        plain(&events).into_iter().filter(|(kind, _)| *kind == "stdout").map(|(_, text)| text).collect();
    assert_eq!(said[..4], ["a", "\n", "b", "bar-1"]);
    assert!(said[4].ends_with("/tmp"), "{said:?}");
    assert!(plain(&events).contains(&("stderr", "c")));
    assert_eq!(events.last().unwrap()["type"], "execution_complete");
    let known = status(&world, &id(&events)).await;
    assert_eq!(
        (&known["running"], &known["exit_code"], &known["content"]),
        (&json!(false), &json!(0), &json!(command))
    );
    assert!(known["finished_at"].is_string() && known.get("error").is_none());
}

#[tokio::test]
async fn how_it_ended_is_an_error_or_that_it_is_complete() {
    let world = local().await;
    let events = world.told("POST /command", &json!({"command": "exit 3"})).await;
    let error = json!({"ename": "CommandExecError", "evalue": "3", "traceback": ["exit status 3"]});
    assert_eq!(events.last().unwrap()["error"], error);
    assert!(events.iter().all(|event| event["type"] != "execution_complete"));
    assert_eq!(status(&world, &id(&events)).await["error"], "exit status 3");
    let events = world.told("POST /command", &json!({"command": "sleep 60", "timeout": 50})).await;
    assert_eq!(events.last().unwrap()["error"]["evalue"], "-1");
    let events = world.told("POST /command", &json!({"argv": ["printf", "%s|", "a b", "$FOO"]})).await;
    assert!(plain(&events).contains(&("stdout", "a b|$FOO|")));
    let events = world.told("POST /command", &json!({"argv": ["no-such-program"]})).await;
    assert_eq!(events.last().unwrap()["error"]["ename"], "CommandExecError");
    // Code without a language is a command, too.
    let events = world.told("POST /code", &json!({"code": "echo $FOO"})).await;
    assert!(plain(&events).contains(&("stdout", "bar")));
}

#[tokio::test]
async fn a_command_in_the_background_goes_on_and_is_asked_for() {
    let world = local().await;
    let command =
        json!({"command": "echo one; read x < /dev/null; echo two >&2; exit 4", "background": true});
    let events = world.told("POST /command", &command).await;
    assert_eq!(
        plain(&events).iter().map(|(kind, _)| *kind).collect::<Vec<_>>(),
        ["init", "execution_complete"]
    );
    let id = id(&events);
    until(async || status(&world, &id).await["running"] == false).await;
    assert_eq!(status(&world, &id).await["exit_code"], 4);
    let (code, headers, text) = world.ask(&format!("GET /command/{id}/logs"), "").await;
    assert_eq!((code, text.len(), &headers["execd-commands-tail-cursor"]), (200, 8, &"8".parse().unwrap()));
    let (_, _, text) = world.ask(&format!("GET /command/{id}/logs?cursor=8"), "").await;
    assert!(text.is_empty());
    let (_, _, text) = world.ask(&format!("GET /command/{id}/logs?cursor=4"), "").await;
    assert_eq!(text.len(), 4);
}

#[tokio::test]
async fn a_command_is_stopped_by_its_id_or_when_nobody_listens() {
    let world = local().await;
    let mut told = world.stream("POST /command", &json!({"command": "echo up; sleep 60"})).await;
    let first = id(&[told.next().await.unwrap()]);
    while told.next().await.unwrap()["text"] != "up" {}
    assert_eq!(world.json(&format!("DELETE /command?id={first}"), &Value::Null).await, (200, Value::Null));
    let rest = told.rest().await;
    assert_eq!(rest.last().unwrap()["error"]["traceback"], json!(["signal: terminated"]));
    let mut told = world.stream("POST /command", &json!({"command": "sleep 60"})).await;
    let second = id(&[told.next().await.unwrap()]);
    drop(told);
    until(async || status(&world, &second).await["running"] == false).await;
    assert_eq!(world.json(&format!("DELETE /command?id={second}"), &Value::Null).await.0, 200);
}

#[tokio::test]
async fn what_cannot_be_run_is_refused() {
    let world = local().await;
    let rows = [
        (json!({}), 400, "INVALID_REQUEST_BODY"),
        (json!({"command": ""}), 400, "INVALID_REQUEST_BODY"),
        (json!({"command": "x", "argv": ["x"]}), 400, "INVALID_REQUEST_BODY"),
        (json!({"argv": []}), 400, "INVALID_REQUEST_BODY"),
        (json!({"command": "x", "timeout": -1}), 400, "INVALID_REQUEST_BODY"),
        (json!({"command": "x", "cwd": "/nowhere"}), 400, "INVALID_REQUEST_BODY"),
        (json!({"command": "x", "uid": 0}), 400, "NOT_SUPPORTED"),
        (json!({"command": "x", "gid": 1000}), 400, "INVALID_REQUEST_BODY"),
    ];
    for (body, status, code) in rows {
        let (given, said) = world.json("POST /command", &body).await;
        assert_eq!((given, &said["code"]), (status, &json!(code)), "{body}");
    }
    let events = world.told("POST /command", &json!({"command": "true", "uid": 1000, "gid": 1000})).await;
    assert_eq!(events.last().unwrap()["type"], "execution_complete");
    let foreground = id(&events);
    assert_eq!(world.json(&format!("GET /command/{foreground}/logs"), &Value::Null).await.0, 400);
    assert_eq!(world.json("GET /command/status/no", &Value::Null).await.0, 404);
    assert_eq!(world.json("GET /command/no/logs", &Value::Null).await.0, 404);
    assert_eq!(world.json("DELETE /command?id=no", &Value::Null).await.0, 500);
}

#[tokio::test]
async fn only_so_many_run_in_the_background() {
    let world = local().await;
    let sleeps = json!({"command": "sleep 600", "background": true});
    let mut first = String::new();
    for _ in 0..32 {
        first = id(&world.told("POST /command", &sleeps).await);
    }
    assert_eq!(world.json("POST /command", &sleeps).await.0, 429);
    world.json(&format!("DELETE /command?id={first}"), &Value::Null).await;
    until(async || status(&world, &first).await["running"] == false).await;
    assert_eq!(world.send("POST /command", sleeps.to_string()).await.status(), 200);
    assert_eq!(
        world.json(&format!("GET /command/status/{first}"), &Value::Null).await.0,
        404,
        "it made room"
    );
    world.end().await;
}

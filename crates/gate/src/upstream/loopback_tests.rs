//! The stand-in for a model.

use futures_util::StreamExt;
use serde_json::{Value, json};

use crate::upstream::test_schemas::check_events;
use crate::upstream::{Credentials, Loopback, TurnRequest, Upstream};

fn tool() -> Value {
    json!({"type": "function", "name": "python", "strict": true, "parameters": {"type": "object", "properties": {"code": {"type": "string"}}}})
}

async fn turn(body: Value) -> Vec<Value> {
    let Value::Object(body) = body else { panic!("{body}") };
    let request = TurnRequest {
        body,
        credentials: Credentials::default(),
        stream: true,
        request_id: String::new(),
        retries: 0,
        asked: crate::upstream::Asked::default(),
    };
    let events: Vec<Value> = Loopback.turn(request).await.unwrap().events.map(Result::unwrap).collect().await;
    check_events(&events);
    events
}

fn last(events: &[Value]) -> &Value {
    let event = events.last().unwrap();
    assert_eq!(event["type"], "response.completed");
    &event["response"]
}

async fn says(body: Value) -> String {
    let events = turn(body).await;
    last(&events)["output"][0]["content"][0]["text"].as_str().unwrap().to_owned()
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": [{"type": "input_text", "text": text}]})
}

fn output(text: &str) -> Value {
    json!({"type": "function_call_output", "call_id": "call_1", "output": text})
}

#[tokio::test]
async fn fenced_code_is_handed_over_in_small_deltas() {
    let code = "print('a \"quoted\" ü')\nx = 1\n";
    let events =
        turn(json!({"model": "loopback", "input": format!("Run\n```python\n{code}```"), "tools": [tool()]}))
            .await;
    let call = &last(&events)["output"][0];
    assert_eq!((call["type"].as_str(), call["name"].as_str()), (Some("function_call"), Some("python")));
    let arguments: Value = serde_json::from_str(call["arguments"].as_str().unwrap()).unwrap();
    assert_eq!(arguments, json!({"code": code}));
    let deltas: Vec<&str> = events.iter().filter_map(|event| event["delta"].as_str()).collect();
    assert!(deltas.len() > 3);
    assert_eq!(deltas.concat(), call["arguments"].as_str().unwrap());
}

#[tokio::test]
async fn the_output_is_the_answer() {
    let input = json!([user("```\n1\n```"), {"type": "function_call", "call_id": "call_1", "name": "python", "arguments": "{}"}, output("30030")]);
    assert_eq!(says(json!({"input": input, "tools": [tool()]})).await, "30030");
    let parts = json!({"type": "function_call_output", "call_id": "c", "output": [{"type": "input_text", "text": "a"}, {"type": "input_image", "image_url": "data:,"}]});
    assert_eq!(says(json!({"input": [user("```\n1\n```"), parts], "tools": [tool()]})).await, "a");
    assert_eq!(
        says(json!({"input": [user("```\n1\n```"), output("")], "tools": [tool()]})).await,
        "[no output]"
    );
}

#[tokio::test]
async fn each_block_is_a_turn_of_its_own() {
    let first = json!([user("```\na\n```\n```\nb\n```"), output("A")]);
    let events = turn(json!({"input": first, "tools": [tool()]})).await;
    assert_eq!(last(&events)["output"][0]["arguments"], json!({"code": "b\n"}).to_string());
    let both = json!([user("```\na\n```\n```\nb\n```"), output("A"), output("B")]);
    assert_eq!(says(json!({"input": both, "tools": [tool()]})).await, "A\n\nB");
}

#[tokio::test]
async fn only_the_last_user_message_counts() {
    let input =
        json!([user("```\na\n```"), output("A"), {"role": "assistant", "content": "A"}, user("thanks")]);
    assert!(says(json!({"input": input, "tools": [tool()]})).await.starts_with("This is loopback"));
}

#[tokio::test]
async fn new_files_are_linked() {
    let text = "done\n[files: /mnt/data/a b.csv (new, 30 bytes), /mnt/data/old.txt (removed), /mnt/data/c.png (changed, 1.2 KiB)]";
    let input = json!([user("```\na\n```"), output(text)]);
    assert_eq!(
        says(json!({"input": input, "tools": [tool()]})).await,
        "done\n\n[a b.csv](sandbox:/mnt/data/a b.csv)\n[c.png](sandbox:/mnt/data/c.png)"
    );
}

#[tokio::test]
async fn it_says_what_it_is_and_what_to_send() {
    assert!(says(json!({"input": "hello"})).await.contains("stand-in for a model"));
    assert!(says(json!({"input": "hello"})).await.contains("fenced code block"));
    for body in [
        json!({"input": "```\na\n```"}),
        json!({"input": "```\na\n```", "tools": [tool()], "tool_choice": "none"}),
    ] {
        assert!(says(body).await.contains("code_interpreter"));
    }
    for nonsense in [json!({}), json!({"input": 7}), json!({"input": [7, null, {"role": "user"}]})] {
        assert!(says(nonsense).await.starts_with("This is loopback"));
    }
}

#[tokio::test]
async fn words_are_counted_as_usage() {
    let events =
        turn(json!({"input": [user("one two\n```\nthree\n```"), output("four five")], "tools": [tool()]}))
            .await;
    let usage = &last(&events)["usage"];
    assert_eq!(usage["input_tokens"], 7);
    assert_eq!(usage["output_tokens"], 2);
    assert_eq!(usage["total_tokens"], 9);
}

#[tokio::test]
async fn it_passes_nothing_on_and_names_itself_as_the_model() {
    assert!(!Loopback.forwards("/v1/embeddings"));
    let models = Loopback.models(&Credentials::default()).await.unwrap();
    assert_eq!(models["data"][0]["id"], "loopback");
}

//! One completion of several turns, streamed and whole.

use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

use super::Answer;
use crate::upstream::test_schemas::check;

fn object(value: Value) -> Map<String, Value> {
    let Value::Object(fields) = value else { panic!("{value}") };
    fields
}

/// Two turns, and then the end.
async fn two_turns(mut answer: Answer) -> Value {
    let choice =
        |tokens: Value| object(json!({"index": 0, "logprobs": {"content": tokens, "refusal": null}}));
    let token = |text: &str| json!([{"token": text, "logprob": 0, "bytes": null, "top_logprobs": []}]);
    answer.learn(object(json!({"id": "one", "created": 1, "model": "m", "system_fingerprint": "a",
        "obfuscation": "xx", "filter": [1]})));
    answer
        .pass(object(json!({"role": "assistant", "content": ""})), &object(json!({"logprobs": null})))
        .await
        .unwrap();
    answer.pass(object(json!({"content": "first"})), &choice(token("first"))).await.unwrap();
    answer.next_turn();
    answer.learn(object(json!({"id": "two", "created": 2, "model": "n", "system_fingerprint": "b"})));
    answer.pass(object(json!({"role": "assistant", "content": ""})), &Map::new()).await.unwrap();
    answer.pass(object(json!({"content": "sec"})), &choice(token("sec"))).await.unwrap();
    answer.pass(object(json!({"content": "ond"})), &choice(token("ond"))).await.unwrap();
    answer
        .finish("stop", Some(json!({"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3})))
        .await
        .unwrap()
}

#[tokio::test]
async fn the_whole_is_one_completion() {
    let whole = two_turns(Answer::new(None, false)).await;
    check("CreateChatCompletionResponse", &whole);
    assert_eq!((&whole["id"], &whole["created"], &whole["model"]), (&json!("one"), &json!(1), &json!("m")));
    assert_eq!((&whole["system_fingerprint"], whole.get("obfuscation")), (&json!("b"), None));
    assert_eq!(whole["filter"], json!([1]));
    let choice = &whole["choices"][0];
    assert_eq!(choice["message"]["content"], "first\n\nsecond");
    assert_eq!(choice["finish_reason"], "stop");
    let tokens = choice["logprobs"]["content"].as_array().unwrap();
    assert_eq!(tokens.iter().map(|token| &token["token"]).collect::<Vec<_>>(), ["first", "sec", "ond"]);
    assert_eq!(whole["usage"]["total_tokens"], 3);
}

#[tokio::test]
async fn chunks_come_under_one_id_and_end() {
    for include_usage in [false, true] {
        let (sender, mut receiver) = mpsc::channel(100);
        two_turns(Answer::new(Some(sender), include_usage)).await;
        let mut lines = Vec::new();
        while let Some(event) = receiver.recv().await {
            assert_eq!(event.kind, "");
            lines.push(event.data);
        }
        assert_eq!(lines.pop().unwrap(), "[DONE]");
        let chunks: Vec<Value> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        for chunk in &chunks {
            assert_eq!(
                (&chunk["id"], &chunk["created"], &chunk["model"]),
                (&json!("one"), &json!(1), &json!("m"))
            );
            assert_eq!(chunk.get("usage").is_some(), include_usage);
        }
        assert_eq!(chunks[0]["obfuscation"], "xx");
        assert_eq!(chunks.iter().filter(|chunk| chunk.get("filter").is_some()).count(), 1);
        let text: String =
            chunks.iter().filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str()).collect();
        assert_eq!(text, "first\n\nsecond");
        let roles = chunks.iter().filter(|chunk| chunk["choices"][0]["delta"]["role"].is_string());
        assert_eq!(roles.count(), 1);
        assert_eq!(chunks.len(), if include_usage { 6 } else { 5 });
        let last = chunks.last().unwrap();
        if include_usage {
            assert_eq!((&last["choices"], &last["usage"]["total_tokens"]), (&json!([]), &json!(3)));
        } else {
            assert_eq!(last["choices"][0]["finish_reason"], "stop");
        }
    }
}

//! Tests of what a strict upstream refuses.

use serde_json::json;

use super::*;

fn known(ids: &[&str]) -> Known {
    Known { given: ids.iter().map(|id| (*id).to_owned()).collect(), foreign: false }
}

fn responses(request: &Value) -> Result<(), String> {
    let request = request.as_object().unwrap();
    check_responses(request, &known(&["call_a", "call_b", "resp_a", "rs_a"]))
        .map_err(|refusal| refusal.message)
}

fn chat(request: &Value) -> Result<(), String> {
    check_chat(request.as_object().unwrap(), &known(&["call_a", "call_b"])).map_err(|refusal| refusal.message)
}

fn with_input(input: &Value) -> Value {
    json!({"model": "m", "input": input, "tools": [python()]})
}

fn python() -> Value {
    json!({"type": "function", "name": "python", "parameters": {"type": "object"}, "strict": true})
}

fn call(id: &str) -> Value {
    json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": "python", "arguments": "{}",
        "status": "completed"})
}

fn output(id: &str) -> Value {
    json!({"type": "function_call_output", "call_id": id, "output": "1"})
}

fn user() -> Value {
    json!({"role": "user", "content": "hi"})
}

#[test]
fn ordinary_requests_pass() {
    responses(&json!({"model": "m", "input": "hi"})).unwrap();
    let message =
        json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]});
    let reasoning = json!({"type": "reasoning", "id": "rs_a", "summary": [], "encrypted_content": "x"});
    let said = json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": "a", "annotations": [], "logprobs": []}]});
    let picture = json!([{"type": "input_text", "text": "1"},
        {"type": "input_image", "image_url": "data:image/png;base64,AA==", "detail": "auto"}]);
    let seen = json!({"type": "function_call_output", "call_id": "call_b", "output": picture});
    responses(&with_input(&json!([
        message,
        reasoning,
        call("call_a"),
        output("call_a"),
        said,
        call("call_b"),
        seen
    ])))
    .unwrap();
    responses(&json!({"model": "m", "previous_response_id": "resp_a", "input": [output("call_a")]})).unwrap();
}

#[test]
fn calls_and_outputs_must_belong_together() {
    let refused = [
        json!([call("call_a")]),
        json!([output("call_a")]),
        json!([output("call_a"), call("call_a")]),
        json!([call("call_a"), output("call_a"), output("call_a")]),
        json!([call("call_x"), output("call_x")]),
        json!([call("call_a"), output("call_a"), call("call_a"), output("call_a")]),
        json!([{"type": "item_reference", "id": "rs_x"}]),
        json!([{"id": "rs_x"}]),
        json!([{"type": "reasoning", "id": "xx_a", "summary": []}]),
    ];
    for input in refused {
        assert!(responses(&with_input(&input)).is_err(), "{input}");
    }
    let foreign = Known { foreign: true, ..Known::default() };
    let request = with_input(&json!([call("call_x"), output("call_x")]));
    check_responses(request.as_object().unwrap(), &foreign).unwrap();
}

#[test]
fn thoughts_that_are_not_kept_come_whole_and_before_what_came_of_them() {
    let thought = |encrypted: Value| json!({"type": "reasoning", "id": "rs_a", "summary": [], "encrypted_content": encrypted});
    let unkept = |input: Value| {
        let mut request = with_input(&input);
        request["store"] = json!(false);
        responses(&request)
    };
    unkept(json!([user(), thought(json!("x")), call("call_a"), output("call_a")])).unwrap();
    let lost = json!([user(), thought(Value::Null), call("call_a"), output("call_a")]);
    assert!(unkept(lost.clone()).unwrap_err().contains("not found"));
    responses(&with_input(&lost)).unwrap();
    for alone in [json!([user(), thought(json!("x")), user()]), json!([user(), thought(json!("x"))])] {
        assert!(unkept(alone).unwrap_err().contains("required following item"));
    }
}

#[test]
fn nothing_of_the_sandbox_may_leak() {
    let code_call = json!({"type": "code_interpreter_call", "id": "ci_1", "status": "completed", "code": "1",
        "container_id": "cntr_1", "outputs": null});
    assert!(
        responses(&with_input(&json!([user(), code_call]))).unwrap_err().contains("code_interpreter_call")
    );
    let tool = json!({"type": "code_interpreter", "container": {"type": "auto"}});
    assert!(responses(&json!({"model": "m", "input": "hi", "tools": [tool]})).unwrap_err().contains("tool"));
    assert!(responses(&json!({"model": "m", "input": "hi", "container": "cntr_1"})).is_err());
}

#[test]
fn tools_and_choices_must_agree() {
    let with = |tools: Value, choice: Value| json!({"model": "m", "input": "hi", "tools": tools, "tool_choice": choice});
    responses(&with(json!([python()]), json!({"type": "function", "name": "python"}))).unwrap();
    responses(&with(
        json!([python()]),
        json!({"type": "allowed_tools", "mode": "auto",
        "tools": [{"type": "function", "name": "python"}]}),
    ))
    .unwrap();
    responses(&with(json!([python()]), json!("required"))).unwrap();
    assert!(responses(&with(json!([python()]), json!({"type": "code_interpreter"}))).is_err());
    assert!(responses(&with(json!([python()]), json!({"type": "function", "name": "other"}))).is_err());
    assert!(responses(&with(json!([python(), python()]), json!("auto"))).is_err());
    assert!(responses(&with(json!([]), json!("required"))).is_err());
}

#[test]
fn a_schema_violation_names_the_place() {
    let message = responses(&json!({"model": "m", "input": "hi", "max_output_tokens": 3})).unwrap_err();
    assert!(message.contains("/max_output_tokens"), "{message}");
    let message =
        responses(&with_input(&json!([{"type": "function_call_output", "call_id": "call_a"}]))).unwrap_err();
    assert!(message.contains("/input/0") && message.contains("output"), "{message}");
}

#[test]
fn chat_calls_are_answered_at_once() {
    let asks = |ids: &[&str]| {
        let calls: Vec<Value> = ids
            .iter()
            .map(|id| {
                json!({"id": id, "type": "function",
            "function": {"name": "python", "arguments": "{}"}})
            })
            .collect();
        json!({"role": "assistant", "content": null, "tool_calls": calls})
    };
    let says = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "1"});
    let with = |messages: Value| json!({"model": "m", "messages": messages});
    chat(&with(json!([user(), asks(&["call_a", "call_b"]), says("call_b"), says("call_a"), user()])))
        .unwrap();
    let refused = [
        json!([user(), asks(&["call_a"]), user()]),
        json!([user(), asks(&["call_a"])]),
        json!([user(), says("call_a")]),
        json!([user(), asks(&["call_x"]), says("call_x")]),
        json!([user(), asks(&["call_a", "call_b"]), says("call_a"), user(), says("call_b")]),
        json!([user(), {"role": "assistant", "content": null}]),
    ];
    for messages in refused {
        assert!(chat(&with(messages.clone())).is_err(), "{messages}");
    }
    assert!(
        chat(&json!({"model": "m", "messages": [user()], "stream_options": {"include_usage": true}}))
            .is_err()
    );
}

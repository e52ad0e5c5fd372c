//! Chat chunks, however they are cut, as Responses events.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::Translator;
use crate::upstream::UpstreamError;
use crate::upstream::compose::Object;
use crate::upstream::test_schemas::check_events;

fn object(value: Value) -> Object {
    let Value::Object(object) = value else { panic!("{value}") };
    object
}

fn chunk(delta: Value) -> Value {
    json!({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "served", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

fn finish(reason: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

fn counts() -> Value {
    json!({"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15, "prompt_tokens_details": {"cached_tokens": 4}, "completion_tokens_details": {"reasoning_tokens": 2}}})
}

fn fragment(call: Value) -> Value {
    chunk(json!({"tool_calls": [call]}))
}

fn translate_for(request: Value, chunks: &[Value], done: bool) -> Result<Vec<Value>, UpstreamError> {
    let mut translator = Translator::new(object(request));
    let mut events = Vec::new();
    for chunk in chunks {
        events.extend(translator.chunk(chunk.as_object().unwrap())?);
    }
    if !translator.is_over() {
        events.extend(translator.end(done)?);
    }
    assert!(translator.is_over());
    Ok(events)
}

fn translate(chunks: &[Value]) -> Vec<Value> {
    let events = translate_for(json!({"model": "asked", "input": "hi"}), chunks, true).unwrap();
    check_events(&events);
    check_order(&events);
    events
}

/// Items come one after the other, their ids stay, and the response at the end holds them as they ended.
fn check_order(events: &[Value]) {
    let mut open: Option<Value> = None;
    let mut done = Vec::new();
    for event in events {
        match event["type"].as_str().unwrap() {
            "response.output_item.added" => {
                assert!(open.is_none(), "two items at once");
                assert_eq!(event["output_index"], done.len());
                open = Some(event["item"]["id"].clone());
            }
            "response.output_item.done" => {
                assert_eq!(open.take().as_ref(), Some(&event["item"]["id"]));
                done.push(event["item"].clone());
            }
            _ if event.get("item_id").is_some() => assert_eq!(open.as_ref(), event.get("item_id")),
            _ => {}
        }
    }
    assert_eq!(events.last().unwrap()["response"]["output"], Value::from(done));
}

fn last(events: &[Value]) -> &Value {
    &events.last().unwrap()["response"]
}

fn kinds(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().unwrap()).collect()
}

/// Name and arguments of each call.
fn calls(events: &[Value]) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let output = last(events)["output"].as_array().unwrap();
    let calls = output.iter().filter(|item| item["type"] == "function_call");
    calls.map(|call| (text(&call["name"]), text(&call["arguments"]))).collect()
}

fn call(name: &str, arguments: &str) -> (String, String) {
    (name.to_owned(), arguments.to_owned())
}

#[test]
fn text_becomes_a_message_as_it_comes() {
    let events = translate(&[
        chunk(json!({"role": "assistant", "content": ""})),
        chunk(json!({"content": "Hel"})),
        chunk(json!({"content": "lo"})),
        finish("stop"),
        counts(),
    ]);
    assert_eq!(
        kinds(&events),
        [
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.content_part.added",
            "response.output_text.delta",
            "response.output_text.delta",
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.completed",
        ]
    );
    let response = last(&events);
    assert_eq!(response["model"], "served");
    assert_eq!(response["output"][0]["content"][0]["text"], "Hello");
    assert_eq!(
        response["usage"],
        json!({
            "input_tokens": 10, "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 0},
            "output_tokens": 5, "output_tokens_details": {"reasoning_tokens": 2}, "total_tokens": 15,
        })
    );
}

#[test]
fn thoughts_come_first_and_are_told_once() {
    for (thought, more) in [("reasoning_content", "reasoning"), ("reasoning", "ignored")] {
        let events = translate(&[
            chunk(json!({thought: "hm", more: "hm"})),
            chunk(json!({thought: "…", "content": null})),
            chunk(json!({"content": "\n\n"})),
            chunk(json!({"content": "Yes."})),
            finish("stop"),
        ]);
        let output = &last(&events)["output"];
        assert_eq!(output[0]["content"], json!([{"type": "reasoning_text", "text": "hm…"}]));
        assert_eq!(output[1]["content"][0]["text"], "\n\nYes.");
    }
}

#[test]
fn content_may_be_parts() {
    let events = translate(&[
        chunk(json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]})),
        chunk(json!({"content": [{"type": "text", "text": "Yes."}]})),
        finish("stop"),
    ]);
    let output = &last(&events)["output"];
    assert_eq!(output[0]["content"][0]["text"], "hm");
    assert_eq!(output[1]["content"][0]["text"], "Yes.");
}

#[test]
fn a_refusal_is_a_part_of_its_own() {
    let events = translate(&[
        chunk(json!({"content": "Well"})),
        chunk(json!({"refusal": "I can"})),
        chunk(json!({"refusal": "not."})),
        finish("stop"),
    ]);
    let content = &last(&events)["output"][0]["content"];
    assert_eq!(content[0]["text"], "Well");
    assert_eq!(content[1], json!({"type": "refusal", "refusal": "I cannot."}));
}

#[test]
fn arguments_are_passed_on_as_they_come() {
    let events = translate(&[
        chunk(json!({"content": "\n"})),
        fragment(
            json!({"index": 0, "id": "call_a", "type": "function", "function": {"name": "python", "arguments": ""}}),
        ),
        fragment(json!({"index": 0, "function": {"arguments": "{\"code\":"}})),
        fragment(json!({"index": 0, "function": {"arguments": " \"1\"}"}})),
        finish("tool_calls"),
        counts(),
    ]);
    assert_eq!(
        kinds(&events)[2..],
        [
            "response.output_item.added",
            "response.function_call_arguments.delta",
            "response.function_call_arguments.delta",
            "response.function_call_arguments.done",
            "response.output_item.done",
            "response.completed",
        ],
        "blanks before a call are no message"
    );
    let item = &last(&events)["output"][0];
    assert_eq!(item["call_id"], "call_a");
    assert_eq!(item["status"], "completed");
    assert_eq!(calls(&events), [call("python", "{\"code\": \"1\"}")]);
}

#[test]
fn parallel_calls_come_one_after_the_other() {
    let start = |index: u64, name: &str| {
        fragment(
            json!({"index": index, "id": format!("call_{index}"), "function": {"name": name, "arguments": ""}}),
        )
    };
    let more = |index: u64, text: &str| fragment(json!({"index": index, "function": {"arguments": text}}));
    let expected = [call("a", "{\"x\": 1}"), call("b", "{\"y\": 2}")];
    let in_order = [
        start(0, "a"),
        more(0, "{\"x\":"),
        more(0, " 1}"),
        start(1, "b"),
        more(1, "{\"y\": 2}"),
        finish("tool_calls"),
    ];
    let events = translate(&in_order);
    assert_eq!(calls(&events), expected);
    let second = kinds(&events).iter().rposition(|kind| *kind == "response.output_item.added").unwrap();
    assert!(second + 4 < events.len(), "the second call does not wait for the end");
    let woven = [
        start(0, "a"),
        start(1, "b"),
        more(1, "{\"y\":"),
        more(0, "{\"x\":"),
        more(0, " 1}"),
        more(1, " 2}"),
        finish("tool_calls"),
    ];
    assert_eq!(calls(&translate(&woven)), expected);
}

#[test]
fn whole_calls_in_one_chunk_whatever_is_missing() {
    let whole = |name: &str| json!({"function": {"name": name, "arguments": "{\"x\": 1}"}});
    let with = |mut call: Value, index: Option<u64>, id: Option<&str>| {
        if let Some(index) = index {
            call["index"] = index.into();
        }
        if let Some(id) = id {
            call["id"] = id.into();
        }
        call
    };
    for (indexes, ids) in [
        ([Some(0), Some(1)], [Some("1"), Some("2")]),
        ([Some(0), Some(1)], [None, None]),
        ([Some(0), Some(0)], [Some("1"), Some("2")]),
        ([Some(0), Some(0)], [None, None]),
        ([None, None], [Some("1"), Some("2")]),
        ([None, None], [None, None]),
        ([None, None], [Some(""), Some("")]),
        ([Some(0), Some(1)], [Some("same"), Some("same")]),
    ] {
        for names in [["a", "b"], ["a", "a"]] {
            let list = [0, 1].map(|at| with(whole(names[at]), indexes[at], ids[at]));
            let expected = names.map(|name| call(name, "{\"x\": 1}"));
            let together = [chunk(json!({"tool_calls": list})), finish("tool_calls")];
            let apart = [fragment(list[0].clone()), fragment(list[1].clone()), finish("stop")];
            for chunks in [&together[..], &apart[..]] {
                let events = translate(chunks);
                assert_eq!(calls(&events), expected, "{indexes:?} {ids:?}");
                let output = &last(&events)["output"];
                assert_ne!(output[0]["call_id"], output[1]["call_id"]);
                assert!(!output[0]["call_id"].as_str().unwrap().is_empty());
            }
        }
    }
}

#[test]
fn a_name_that_is_repeated_and_ids_that_change_are_one_call() {
    for ids in [["1", "1", "1"], ["1", "2", "3"], ["", "", ""]] {
        let piece = |at: usize, text: &str| {
            fragment(json!({"index": 0, "id": ids[at], "function": {"name": "f", "arguments": text}}))
        };
        let events = translate(&[piece(0, ""), piece(1, "{\"x\":"), piece(2, "1}"), finish("tool_calls")]);
        assert_eq!(calls(&events), [call("f", "{\"x\":1}")]);
    }
    let unnamed = [
        fragment(json!({"index": 0, "id": "1", "function": {"arguments": "{\"x\""}})),
        fragment(json!({"index": 0, "function": {"name": "f", "arguments": ":1}"}})),
        finish("tool_calls"),
    ];
    assert_eq!(calls(&translate(&unnamed)), [call("f", "{\"x\":1}")]);
}

#[test]
fn arguments_may_be_an_object_or_nothing() {
    for (arguments, expected) in [(json!({"x": 1}), "{\"x\":1}"), (json!(""), "{}"), (Value::Null, "{}")] {
        let chunks = [
            fragment(json!({"index": 0, "function": {"name": "f", "arguments": arguments}})),
            finish("tool_calls"),
        ];
        assert_eq!(calls(&translate(&chunks)), [call("f", expected)]);
    }
}

#[test]
fn an_id_that_names_another_call_is_exchanged() {
    let input = json!([{"type": "function_call", "call_id": "call_0", "name": "f", "arguments": "{}"}]);
    let chunks = [
        fragment(json!({"index": 0, "id": "call_0", "function": {"name": "f", "arguments": "{}"}})),
        fragment(json!({"index": 1, "id": "x".repeat(65), "function": {"name": "f", "arguments": "{}"}})),
        finish("tool_calls"),
    ];
    let events = translate_for(json!({"model": "m", "input": input}), &chunks, true).unwrap();
    for item in last(&events)["output"].as_array().unwrap() {
        let id = item["call_id"].as_str().unwrap();
        assert!(id.starts_with("call_") && id.len() == 29, "{id}");
    }
}

#[test]
fn text_before_and_after_calls_is_kept_in_order() {
    let whole = json!({"index": 0, "id": "1", "function": {"name": "f", "arguments": "{}"}});
    let events = translate(&[
        chunk(json!({"content": "before"})),
        fragment(whole),
        chunk(json!({"content": "after"})),
        finish("tool_calls"),
    ]);
    let kinds: Vec<&str> = last(&events)["output"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["type"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["message", "function_call", "message"]);
    let half = json!({"index": 0, "id": "1", "function": {"name": "f", "arguments": "{"}});
    let rest = json!({"index": 0, "function": {"arguments": "}"}});
    let events =
        translate(&[fragment(half), chunk(json!({"content": "aside"})), fragment(rest), finish("stop")]);
    assert_eq!(calls(&events), [call("f", "{}")]);
    assert_eq!(last(&events)["output"][1]["content"][0]["text"], "aside");
}

#[test]
fn a_model_that_was_cut_off_is_incomplete() {
    for (reason, said) in [("length", "max_output_tokens"), ("content_filter", "content_filter")] {
        let events = translate(&[chunk(json!({"content": "Hel"})), finish(reason), counts()]);
        assert_eq!(events.last().unwrap()["type"], "response.incomplete");
        let response = last(&events);
        assert_eq!(response["status"], "incomplete");
        assert_eq!(response["incomplete_details"], json!({"reason": said}));
        assert_eq!(response["output"][0]["status"], "incomplete");
    }
    let half = json!({"index": 0, "id": "1", "function": {"name": "f", "arguments": "{\"code\": \"pri"}});
    let events = translate(&[fragment(half), finish("length")]);
    assert_eq!(last(&events)["output"][0]["status"], "incomplete");
    assert_eq!(calls(&events), [call("f", "{\"code\": \"pri")]);
}

#[test]
fn counts_are_the_last_ones_and_may_be_missing() {
    let early = json!({"choices": [{"index": 0, "delta": {"content": "a"}}], "usage": {"prompt_tokens": 0, "completion_tokens": 0}});
    let events = translate(&[early, finish("stop"), counts()]);
    assert_eq!(last(&events)["usage"]["total_tokens"], 15);
    assert_eq!(last(&translate(&[chunk(json!({"content": "a"})), finish("stop")]))["usage"], Value::Null);
}

#[test]
fn other_choices_are_not_mixed_in() {
    let events = translate(&[
        json!({"choices": [{"index": 1, "delta": {"content": "B"}}, {"index": 0, "delta": {"content": "A"}}]}),
        finish("stop"),
    ]);
    assert_eq!(last(&events)["output"][0]["content"][0]["text"], "A");
    assert_eq!(last(&events)["model"], "asked");
}

#[test]
fn a_reason_to_finish_that_is_blank_is_none_and_tiers_are_known_ones() {
    let blank = |text: &str, tier: &str| json!({"service_tier": tier, "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": ""}]});
    let events = translate(&[blank("a", "flex"), blank("b", "on_demand"), finish("stop")]);
    assert_eq!(last(&events)["output"][0]["content"][0]["text"], "ab");
    assert_eq!(last(&events)["service_tier"], "flex");
}

#[test]
fn logprobs_stay_with_their_text() {
    let probability = json!({"token": "a", "logprob": -0.5, "bytes": [97], "top_logprobs": []});
    let events = translate(&[
        json!({"choices": [{"index": 0, "delta": {"content": "a"}, "logprobs": {"content": [probability]}}]}),
        finish("stop"),
    ]);
    assert_eq!(events[4]["logprobs"], json!([probability]));
    assert_eq!(last(&events)["output"][0]["content"][0]["logprobs"], json!([probability]));
}

#[test]
fn an_error_among_the_chunks_is_the_last_event() {
    let cases = [
        (json!({"error": {"message": "no", "type": "x", "code": 429, "param": null}}), "429"),
        (json!({"error": "no"}), "server_error"),
        (json!({"object": "error", "message": "no", "type": "BadRequestError", "code": 400}), "400"),
    ];
    for (chunk_of_error, code) in cases {
        for before in [vec![], vec![chunk(json!({"content": "Hel"}))]] {
            let mut chunks = before.clone();
            chunks.push(chunk_of_error.clone());
            let events = translate_for(json!({"model": "m"}), &chunks, false).unwrap();
            let event = events.last().unwrap();
            assert_eq!(
                (event["type"].as_str(), event["sequence_number"].as_u64()),
                (Some("error"), Some(events.len() as u64 - 1))
            );
            assert_eq!(event["error"]["message"], "no");
            assert_eq!(event["error"]["code"], code);
            assert!(event["error"].get("param").is_some());
        }
    }
}

#[test]
fn an_end_that_nobody_announced_is_broken() {
    let begun = [chunk(json!({"content": "Hel"}))];
    assert!(matches!(translate_for(json!({}), &begun, false), Err(UpstreamError::Broken(_))));
    assert!(matches!(translate_for(json!({}), &[], true), Err(UpstreamError::Broken(_))));
    assert!(translate_for(json!({}), &begun, true).is_ok(), "[DONE] is an end");
    let finished = [chunk(json!({"content": "Hel"})), finish("stop")];
    assert!(translate_for(json!({}), &finished, false).is_ok(), "a finish_reason is an end");
}

#[test]
fn calls_that_make_no_sense_are_broken() {
    let nameless =
        [fragment(json!({"index": 0, "id": "1", "function": {"arguments": "{}"}})), finish("tool_calls")];
    assert!(matches!(translate_for(json!({}), &nameless, true), Err(UpstreamError::Broken(_))));
    let late = [
        fragment(json!({"index": 0, "function": {"name": "a", "arguments": "{}"}})),
        fragment(json!({"index": 1, "function": {"name": "b", "arguments": "{}"}})),
        fragment(json!({"index": 0, "function": {"arguments": "{}"}})),
    ];
    assert!(matches!(translate_for(json!({}), &late, true), Err(UpstreamError::Broken(_))));
}

#[test]
fn a_whole_completion_is_the_same_as_its_chunks() {
    let message = json!({
        "role": "assistant", "content": "Let me see.", "refusal": null, "reasoning_content": "hm",
        "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "a", "arguments": "{}"}},
            {"id": "2", "type": "function", "function": {"name": "b", "arguments": "{}"}},
        ],
    });
    let completion = json!({"object": "chat.completion", "model": "served", "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}], "usage": counts()["usage"]});
    let mut translator = Translator::new(object(json!({"model": "asked", "input": "hi"})));
    let events = translator.whole(object(completion)).unwrap();
    check_events(&events);
    check_order(&events);
    let output = last(&events)["output"].as_array().unwrap();
    let kinds: Vec<&str> = output.iter().map(|item| item["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["reasoning", "message", "function_call", "function_call"]);
    for nonsense in [json!({}), json!({"choices": []}), json!({"choices": [7]})] {
        assert!(Translator::new(Object::new()).whole(object(nonsense)).is_err());
    }
    let error = Translator::new(Object::new()).whole(object(json!({"error": {"message": "no"}}))).unwrap();
    assert_eq!(kinds_of(&error), ["error"]);
}

fn kinds_of(events: &[Value]) -> Vec<&str> {
    kinds(events)
}

#[test]
fn the_call_of_a_function_that_stands_for_a_custom_tool_is_that_tools() {
    let request = || json!({"model": "m", "input": "hi", "tools": [{"type": "custom", "name": "patch"}]});
    for (pieces, reason, input, status) in [
        (&["{\"input\": \"*** Be", "gin\\n\"}"][..], "tool_calls", "*** Begin\n", "completed"),
        (&["{}"], "tool_calls", "", "completed"),
        (&["plain words"], "tool_calls", "plain words", "completed"),
        (&["{\"input\": \"hal"], "length", "", "incomplete"),
    ] {
        let mut chunks = vec![fragment(json!({"index": 0, "id": "call_1", "function": {"name": "patch"}}))];
        chunks
            .extend(pieces.iter().map(|text| fragment(json!({"index": 0, "function": {"arguments": text}}))));
        chunks.push(finish(reason));
        let events = translate_for(request(), &chunks, true).unwrap();
        check_events(&events);
        check_order(&events);
        let item = &events.last().unwrap()["response"]["output"][0];
        assert_eq!((&item["type"], &item["name"]), (&json!("custom_tool_call"), &json!("patch")));
        assert_eq!((&item["input"], &item["status"]), (&json!(input), &json!(status)));
        assert!(item["id"].as_str().unwrap().starts_with("ctc_") && item["call_id"] == "call_1");
        let told: String = events.iter().filter_map(|event| event["delta"].as_str()).collect();
        assert_eq!(told, input);
        assert!(events.iter().any(|event| event["type"] == "response.custom_tool_call_input.done"));
    }
}

/// Cuts a text into pieces at the given places.
fn cut<'a>(text: &'a str, cuts: &[prop::sample::Index]) -> Vec<&'a str> {
    let mut at: Vec<usize> =
        cuts.iter().map(|cut| cut.index(text.len() + 1)).filter(|at| text.is_char_boundary(*at)).collect();
    at.extend([0, text.len()]);
    at.sort_unstable();
    at.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect()
}

proptest! {
    #[test]
    fn however_calls_are_cut_and_named_they_come_out_whole(
        codes in prop::collection::vec("[a-z{}\"\\\\\n ü]{0,30}", 1..4),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        repeat_name in any::<bool>(), repeat_id in any::<bool>(), give_id in any::<bool>(), blanks in any::<bool>(),
    ) {
        let mut chunks = Vec::new();
        let mut expected = Vec::new();
        for (index, code) in codes.iter().enumerate() {
            let arguments = json!({"code": code}).to_string();
            for (number, piece) in cut(&arguments, &cuts).into_iter().enumerate() {
                let mut function = json!({"arguments": piece});
                if number == 0 || repeat_name {
                    function["name"] = "python".into();
                }
                let mut call = json!({"index": index, "function": function});
                if give_id && (number == 0 || repeat_id) {
                    call["id"] = format!("id_{index}").into();
                }
                chunks.push(fragment(call));
                if blanks {
                    chunks.push(chunk(json!({"content": " "})));
                }
            }
            expected.push(call("python", &arguments));
        }
        chunks.push(finish("tool_calls"));
        let events = translate_for(json!({"model": "m"}), &chunks, true).unwrap();
        check_order(&events);
        prop_assert_eq!(calls(&events), expected);
        let deltas: String = events.iter().filter_map(|event| event["delta"].as_str()).collect();
        prop_assert_eq!(deltas, calls(&events).into_iter().map(|(_, arguments)| arguments).collect::<String>());
    }
}

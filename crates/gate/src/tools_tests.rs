//! What the upstream sees of the client's tools.

use serde_json::{Map, Value, json};

use super::{ToolRewrite, TurnTools};
use crate::container_param::{CodeTool, ContainerChoice};
use crate::tool_choice::Form;

fn rewrite(body: &Value, index: usize) -> ToolRewrite {
    let tool = CodeTool { index, container: ContainerChoice::Named("c".into()), allowed_callers: None };
    let form = if body.get("messages").is_some() { Form::Nested } else { Form::Flat };
    let rewrite =
        ToolRewrite::new(form, body.as_object().unwrap(), &tool, &["/mnt/data/file-1-a.csv".to_owned()]);
    rewrite.with_files_elsewhere(body.get("messages").is_some())
}

fn applied(body: &Value, index: usize, turn: TurnTools) -> Map<String, Value> {
    let mut out = body.as_object().unwrap().clone();
    rewrite(body, index).apply(&mut out, turn);
    out
}

#[test]
fn the_tool_is_replaced_in_its_place() {
    let body = json!({"tools": [{"type": "web_search"}, {"type": "code_interpreter", "container": "c"}]});
    let out = applied(&body, 1, TurnTools::First);
    assert_eq!(out["tools"][0], json!({"type": "web_search"}));
    assert_eq!(out["tools"][1]["name"], "python");
    assert_eq!(out["tools"][1]["parameters"]["required"], json!(["code"]));
    assert!(out["tools"][1]["description"].as_str().unwrap().contains("/mnt/data/file-1-a.csv"));
    assert!(!out.contains_key("tool_choice"));
    assert!(!out["tools"][1]["description"].as_str().unwrap().contains("URL"));
}

#[test]
fn a_name_that_is_taken_is_left_to_the_client() {
    let body = json!({"tools": [{"type": "function", "name": "python"}, {"type": "code_interpreter"}]});
    assert_eq!(rewrite(&body, 1).name, "python_2");
}

#[test]
fn forced_choices_are_relaxed_after_the_first_call() {
    let named = json!({"type": "function", "name": "python"});
    for (choice, first, later) in [
        (json!("auto"), json!("auto"), json!("auto")),
        (json!("none"), json!("none"), json!("none")),
        (json!("required"), json!("required"), json!("auto")),
        (json!({"type": "code_interpreter"}), named.clone(), json!("auto")),
        (json!({"type": "function", "name": "f"}), json!({"type": "function", "name": "f"}), json!("auto")),
        (
            json!({"type": "allowed_tools", "mode": "required", "tools": [{"type": "code_interpreter"}]}),
            json!({"type": "allowed_tools", "mode": "required", "tools": [named]}),
            json!({"type": "allowed_tools", "mode": "auto", "tools": [named]}),
        ),
    ] {
        let body = json!({"tools": [{"type": "code_interpreter"}], "tool_choice": choice});
        assert_eq!(applied(&body, 0, TurnTools::First)["tool_choice"], first);
        assert_eq!(applied(&body, 0, TurnTools::Later)["tool_choice"], later);
    }
}

#[test]
fn the_tool_is_chosen_by_litellms_words_too() {
    let named = json!({"type": "function", "name": "python"});
    let by_name = json!({"type": "function", "name": "code_interpreter"});
    let hosted = json!({"type": "hosted_tool", "name": "code_interpreter"});
    for choice in [&hosted, &by_name] {
        let body = json!({"tools": [{"type": "code_interpreter"}], "tool_choice": choice});
        assert_eq!(applied(&body, 0, TurnTools::First)["tool_choice"], named);
        assert_eq!(applied(&body, 0, TurnTools::Later)["tool_choice"], "auto");
    }
    // A function of the client's of that name is meant by its name.
    let own = json!({"type": "function", "name": "code_interpreter", "parameters": {}});
    let body = json!({"tools": [{"type": "code_interpreter"}, own], "tool_choice": by_name});
    assert_eq!(applied(&body, 0, TurnTools::First)["tool_choice"], by_name);
    let body = json!({"messages": [], "tools": [{"type": "code_interpreter"}], "tool_choice": hosted});
    let chosen = applied(&body, 0, TurnTools::First);
    assert_eq!(chosen["tool_choice"], json!({"type": "function", "function": {"name": "python"}}));
}

#[test]
fn past_a_limit_the_tool_cannot_be_called() {
    for choice in [json!("required"), json!("auto"), Value::Null] {
        let mut body = json!({"tools": [{"type": "code_interpreter"}], "tool_choice": choice});
        body.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        let out = applied(&body, 0, TurnTools::NoMoreCode);
        assert_eq!((&out["tools"][0]["name"], &out["tool_choice"]), (&json!("python"), &json!("none")));
    }
    let allowed =
        json!({"type": "allowed_tools", "mode": "required", "tools": [{"type": "code_interpreter"}]});
    let tools = json!([{"type": "code_interpreter"}, {"type": "web_search"}]);
    let body = json!({"tools": tools, "tool_choice": allowed});
    let out = applied(&body, 0, TurnTools::NoMoreCode);
    assert_eq!(out["tools"], json!([{"type": "web_search"}]));
    assert_eq!(out["tool_choice"], "none");
}

#[test]
fn in_chat_completions_names_lie_one_level_deeper() {
    let named = json!({"type": "function", "function": {"name": "python_2"}});
    let own = json!({"type": "function", "function": {"name": "python"}});
    for (choice, first, later, none) in [
        (json!("required"), json!("required"), json!("auto"), json!("auto")),
        (json!({"type": "code_interpreter"}), named.clone(), json!("auto"), json!("auto")),
        (own.clone(), own.clone(), json!("auto"), json!("auto")),
        (
            json!({"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [{"type": "code_interpreter"}, own]}}),
            json!({"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [named, own]}}),
            json!({"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [named, own]}}),
            json!({"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [own]}}),
        ),
    ] {
        let body =
            json!({"messages": [], "tools": [own, {"type": "code_interpreter"}], "tool_choice": choice});
        let out = applied(&body, 1, TurnTools::First);
        assert_eq!(out["tool_choice"], first);
        assert_eq!(out["tools"][1]["function"]["name"], "python_2");
        assert_eq!(out["tools"][1]["function"]["strict"], true);
        // Here with files that are elsewhere.
        assert!(out["tools"][1]["function"]["description"].as_str().unwrap().contains("by a URL are not"));
        assert_eq!(applied(&body, 1, TurnTools::Later)["tool_choice"], later);
        let last = applied(&body, 1, TurnTools::NoMoreCode);
        assert_eq!((&last["tool_choice"], &last["tools"]), (&none, &json!([own])));
    }
}

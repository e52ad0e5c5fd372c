//! What clients send: small, long and very long requests, streams, and the two turns of a loop.

use bytes::Bytes;
use serde_json::{Value, json};

use super::answers::CODE;

/// The container that a loop's code is to run in.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place<'a> {
    /// One of its own, made for this request.
    Fresh,
    Known(&'a str),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Size {
    Small,
    /// 134 KB: a long conversation and twenty tools.
    Long,
    /// 2 MB: a picture.
    Picture,
}

impl Size {
    pub(super) const ALL: [Self; 3] = [Self::Small, Self::Long, Self::Picture];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Small => "small",
            Self::Long => "134kb",
            Self::Picture => "2mb",
        }
    }
}

/// No code tool: none of the gate's business.
pub(super) fn plain(size: Size, delay: u64) -> Bytes {
    let model = format!("plain-{delay}");
    let message = |role: &str, text: String| json!({"role": role, "content": text});
    let body = match size {
        Size::Small => json!({"model": model, "input": "What is six times seven, and why do people ask?"}),
        Size::Long => {
            let words = "one more thing that was said before and has to be said again, ".repeat(25);
            let turn = |number: usize| {
                message(
                    if number.is_multiple_of(2) { "user" } else { "assistant" },
                    format!("{number}: {words}"),
                )
            };
            let tools: Vec<Value> = (0..20).map(tool).collect();
            json!({"model": model, "input": (0..80).map(turn).collect::<Vec<_>>(), "tools": tools})
        }
        Size::Picture => {
            let picture =
                format!("data:image/png;base64,{}", "iVBORw0KGgo/+AAAANSUhEUg".repeat(2_000_000 / 24));
            let content = [
                json!({"type": "input_text", "text": "What is this?"}),
                json!({"type": "input_image", "detail": "auto", "image_url": picture}),
            ];
            json!({"model": model, "input": [{"role": "user", "content": content}]})
        }
    };
    body.to_string().into()
}

fn tool(number: usize) -> Value {
    let field = |name: &str| json!({"type": "string", "description": format!("The {name} of what is looked for, as the user said it.")});
    json!({"type": "function", "name": format!("look_up_{number}"), "strict": false,
        "description": "Looks something up in one of the many places where things can be looked up.",
        "parameters": {"type": "object", "properties": {"name": field("name"), "kind": field("kind")},
            "required": ["name"]}})
}

/// With the tool, each event passes through the gate's hands; the model calls it not.
pub(super) fn streamed(with_tool: bool) -> Bytes {
    let mut body = json!({"model": "chunks-0", "stream": true, "input": "What is six times seven?"});
    if with_tool {
        body["tools"] = json!([code_tool(Place::Fresh)]);
    }
    body.to_string().into()
}

fn code_tool(place: Place) -> Value {
    let container = match place {
        Place::Fresh => json!({"type": "auto"}),
        Place::Known(id) => json!(id),
    };
    json!({"type": "code_interpreter", "container": container})
}

/// The whole loop is one request.
pub(super) fn looped(delay: u64, place: Place) -> Bytes {
    let body = json!({"model": format!("code-{delay}"), "input": "What is six times seven?",
        "include": ["code_interpreter_call.outputs"], "tools": [code_tool(place)]});
    body.to_string().into()
}

/// The same two turns for a client that runs the code itself.
pub(super) fn turns(delay: u64) -> [Bytes; 2] {
    let function = json!({"type": "function", "name": "python", "strict": true, "description": "Runs Python code.",
        "parameters": {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"],
            "additionalProperties": false}});
    let question = json!({"role": "user", "content": "What is six times seven?"});
    let call = json!({"type": "function_call", "call_id": "call_1", "name": "python",
        "arguments": json!({"code": CODE}).to_string()});
    let output = json!({"type": "function_call_output", "call_id": "call_1", "output": "42\n"});
    [json!([question]), json!([question, call, output])].map(|input| {
        json!({"model": format!("code-{delay}"), "input": input, "tools": [function]}).to_string().into()
    })
}

/// The code alone, in a container that is there.
pub(super) fn execute(container: &str) -> Bytes {
    json!({"code": CODE, "container": container}).to_string().into()
}

#[cfg(test)]
#[path = "bodies_tests.rs"]
mod tests;

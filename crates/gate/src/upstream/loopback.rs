//! A stand-in for a model, so that the whole path can be tried without an account: it runs the fenced
//! code in the last user message and answers with what came out. It says plainly what it is.

use ::http::{HeaderMap, Request, Response};
use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};

use super::answer::AnswerBody;
use super::compose::{Composer, Ending, Object, new_call_id, response_to};
use super::fences::fenced_blocks;
use super::http::RequestBody;
use super::items::{CallItem, MessageItem};
use super::loopback_chat::chunks;
use super::{Credentials, Turn, TurnRequest, Upstream, UpstreamError};

const MODEL: &str = "loopback";
/// Characters in a delta: about what real models send.
const DELTA: usize = 12;

const NO_CODE: &str = "This is loopback, a stand-in for a model that comes with Sandgate. It cannot think or \
    talk. Send a message with Python in a fenced code block (```python … ```) and the code_interpreter tool: \
    the code is run in a sandbox, and the answer is what it puts out. To talk to a real model, configure an \
    upstream.";
const NO_TOOL: &str = "This is loopback, a stand-in for a model that comes with Sandgate. Your message holds \
    code, but the request offers no tool to run it with. Add {\"type\": \"code_interpreter\", \"container\": \
    {\"type\": \"auto\"}} to its tools.";

#[derive(Debug, Clone, Copy, Default)]
pub struct Loopback;

#[async_trait]
impl Upstream for Loopback {
    fn name(&self) -> &'static str {
        "loopback"
    }

    async fn turn(&self, request: TurnRequest) -> Result<Turn, UpstreamError> {
        let events = answer(&request.body).into_iter().map(Ok);
        Ok(Turn { events: stream::iter(events).boxed(), headers: HeaderMap::new() })
    }

    async fn chat_turn(&self, request: TurnRequest) -> Result<Turn, UpstreamError> {
        let chunks = chunks(&request.body).into_iter().map(Ok);
        Ok(Turn { events: stream::iter(chunks).boxed(), headers: HeaderMap::new() })
    }

    fn forwards(&self, _path: &str) -> bool {
        false
    }

    async fn forward(&self, _request: Request<RequestBody>) -> Result<Response<AnswerBody>, UpstreamError> {
        Err(UpstreamError::Unsupported(
            "loopback has only Responses and Chat Completions; configure an upstream".to_owned(),
        ))
    }

    async fn models(&self, _credentials: &Credentials) -> Result<Value, UpstreamError> {
        let model = json!({"id": MODEL, "object": "model", "created": 0, "owned_by": "sandgate"});
        Ok(json!({"object": "list", "data": [model]}))
    }
}

fn answer(request: &Object) -> Vec<Value> {
    let asked = Asked::new(request.get("input"));
    let mut composer = Composer::new(response_to(request, None));
    let said = says(&asked, code_tool(request));
    match &said {
        Says::Call { tool, arguments } => {
            let mut call = CallItem::open(&mut composer, new_call_id(), (*tool).to_owned());
            for piece in pieces(arguments) {
                call.arguments(&mut composer, piece);
            }
            call.close(&mut composer, "completed");
        }
        Says::Text(text) => {
            let mut message = MessageItem::open(&mut composer);
            for piece in pieces(text) {
                message.text(&mut composer, piece, Vec::new());
            }
            message.close(&mut composer, "completed");
        }
    }
    composer.finish(Ending::Completed, usage(asked.words, said.words()));
    composer.take()
}

/// All it ever says.
pub(super) enum Says<'a> {
    Call { tool: &'a str, arguments: String },
    Text(String),
}

impl Says<'_> {
    pub(super) fn words(&self) -> u64 {
        let (Self::Call { arguments: text, .. } | Self::Text(text)) = self;
        words(text)
    }
}

pub(super) fn says<'a>(asked: &Asked, tool: Option<&'a str>) -> Says<'a> {
    let blocks = fenced_blocks(&asked.text);
    match (blocks.get(asked.outputs.len()), tool) {
        (Some(code), Some(tool)) => Says::Call { tool, arguments: json!({"code": code}).to_string() },
        _ if !asked.outputs.is_empty() => Says::Text(told(&asked.outputs)),
        (Some(_), None) => Says::Text(NO_TOOL.to_owned()),
        (None, _) => Says::Text(NO_CODE.to_owned()),
    }
}

/// What of the input matters here: the last user message and the outputs of code since then.
#[derive(Default)]
pub(super) struct Asked {
    pub(super) text: String,
    pub(super) outputs: Vec<String>,
    pub(super) words: u64,
}

impl Asked {
    fn new(input: Option<&Value>) -> Self {
        let mut asked = Self::default();
        let items = match input {
            Some(Value::Array(items)) => items.as_slice(),
            Some(Value::String(text)) => {
                asked.text.clone_from(text);
                asked.words = words(text);
                &[]
            }
            _ => &[],
        };
        for item in items {
            let said = if item["type"] == "function_call_output" { "output" } else { "content" };
            let text = text_of(&item[said]);
            asked.words += words(&text) + words(item["arguments"].as_str().unwrap_or_default());
            if said == "output" {
                asked.outputs.push(text);
            } else if item["role"] == "user" {
                asked.text = text;
                asked.outputs.clear();
            }
        }
        asked
    }
}

/// A text, or the text parts of a list.
pub(super) fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

/// The function that takes Python code, where the request offers one.
pub(super) fn code_tool(request: &Object) -> Option<&str> {
    if request.get("tool_choice").is_some_and(|choice| choice == "none") {
        return None;
    }
    let tools = request.get("tools")?.as_array()?;
    // One level deeper in Chat Completions.
    let functions = tools.iter().map(|tool| tool.get("function").unwrap_or(tool));
    let mut names = functions.filter(|function| function["parameters"]["properties"].get("code").is_some());
    names.find_map(|function| function["name"].as_str().filter(|name| name.starts_with("python")))
}

/// The outputs as they are, and links to the files that were written.
fn told(outputs: &[String]) -> String {
    let mut files = Vec::new();
    let mut texts = Vec::new();
    for output in outputs {
        let (notes, lines): (Vec<&str>, Vec<&str>) =
            output.lines().partition(|line| line.starts_with("[files: /mnt/data/"));
        for name in notes.iter().flat_map(|note| new_files(note)) {
            if !files.contains(&name) {
                files.push(name);
            }
        }
        texts.push(lines.join("\n"));
    }
    let links = files.iter().map(|name| format!("[{name}](sandbox:/mnt/data/{name})"));
    let links = links.collect::<Vec<_>>().join("\n");
    texts.push(links);
    texts.retain(|text| !text.is_empty());
    if texts.is_empty() { "[no output]".to_owned() } else { texts.join("\n\n") }
}

/// The names in a note of the form `[files: /mnt/data/a.csv (new, 3 bytes), …]`.
fn new_files(note: &str) -> Vec<&str> {
    let name = |text: &'_ str| text.find(" (new, ").or_else(|| text.find(" (changed, "));
    note.split("/mnt/data/").skip(1).filter_map(|text| Some(&text[..name(text)?])).collect()
}

pub(super) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest.char_indices().nth(DELTA).map_or(rest.len(), |(at, _)| at);
        let (piece, after) = rest.split_at(end);
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

pub(super) fn words(text: &str) -> u64 {
    text.split_whitespace().count() as u64
}

fn usage(input: u64, output: u64) -> Value {
    json!({
        "input_tokens": input,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": input + output,
    })
}

#[cfg(test)]
#[path = "loopback_tests.rs"]
mod tests;

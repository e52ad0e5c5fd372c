//! Chat Completions as a client sees them: whole, and as chunks put together again.

use std::io::{BufRead, BufReader};
use std::net::TcpStream;

use sandgate_testkit::Schemas;
use serde_json::{Map, Value, json};

use super::{Answer, Client};

/// A request with the code tool, and the fields given over it.
pub(crate) fn chat_request(fields: Value) -> Value {
    let messages = json!([{"role": "user", "content": "go"}]);
    let mut request =
        json!({"model": "gpt-test", "messages": messages, "tools": [{"type": "code_interpreter"}]});
    let (Value::Object(request_fields), Value::Object(fields)) = (&mut request, fields) else {
        panic!("fields are an object")
    };
    request_fields.extend(fields);
    request_fields.retain(|_, value| !value.is_null());
    request
}

impl Client {
    pub(crate) fn chat(&self, fields: Value) -> Answer {
        self.post("/v1/chat/completions", &chat_request(fields))
    }

    /// A whole completion, which fits the official schema.
    #[track_caller]
    pub(crate) fn complete(&self, fields: Value) -> Value {
        let whole = self.chat(fields).ok();
        if let Err(problem) = Schemas::check("CreateChatCompletionResponse", &whole) {
            panic!("{problem}\n{whole:#}");
        }
        whole
    }

    /// The same request streamed: the bytes of the answer.
    pub(crate) fn chat_stream(&self, mut fields: Value) -> Answer {
        fields["stream"] = json!(true);
        self.chat(fields)
    }

    /// The chunks of a stream that ends as it should.
    #[track_caller]
    pub(crate) fn chunks(&self, fields: Value) -> Vec<Value> {
        self.chat_stream(fields).chunks()
    }

    pub(crate) fn open_chat(&self, mut fields: Value) -> ChatStreaming {
        fields["stream"] = json!(true);
        let body = chat_request(fields).to_string();
        let stream = self.send("POST", "/v1/chat/completions", "application/json", body.as_bytes());
        ChatStreaming(BufReader::new(stream))
    }
}

impl Answer {
    /// What follows `data: `, line by line; nothing else is in the stream but comments.
    #[track_caller]
    pub(crate) fn data(&self) -> Vec<String> {
        assert_eq!(self.status, 200, "{}", self.text());
        assert!(self.head.contains("content-type: text/event-stream; charset=utf-8"), "{}", self.head);
        let text = self.text();
        let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with(':'));
        let data = |line: &str| line.strip_prefix("data: ").unwrap_or_else(|| panic!("{line}")).to_owned();
        lines.map(data).collect()
    }

    #[track_caller]
    pub(crate) fn chunks(&self) -> Vec<Value> {
        let mut data = self.data();
        assert_eq!(data.pop().as_deref(), Some("[DONE]"), "{}", self.text());
        let chunks: Vec<Value> = data.iter().map(|data| serde_json::from_str(data).expect("JSON")).collect();
        for chunk in &chunks {
            for name in ["id", "created", "model"] {
                assert_eq!(chunk[name], chunks[0][name], "{chunk}");
            }
            assert_eq!(chunk["object"], "chat.completion.chunk");
            let choices = chunk["choices"].as_array().expect("choices");
            assert!(choices.iter().all(|choice| choice["index"] == 0 && choice["delta"].is_object()));
        }
        chunks
    }

    /// The error at the end of a stream that has begun.
    #[track_caller]
    pub(crate) fn chat_failure(&self) -> Value {
        let data = self.data();
        let last: Value = serde_json::from_str(data.last().expect("a line")).expect("JSON");
        for key in ["message", "type", "param", "code"] {
            assert!(last["error"].get(key).is_some(), "no '{key}': {last}");
        }
        assert!(data.iter().all(|data| !data.contains("\"finish_reason\":\"")), "{}", self.text());
        last["error"].clone()
    }

    /// Nothing of it tells of the function that stands in for the tool.
    #[track_caller]
    pub(crate) fn leaks_nothing(&self) {
        let text = self.text();
        for word in ["\"python\"", "tool_calls", "sandgate"] {
            assert!(!text.contains(word), "{word} in {text}");
        }
    }
}

/// Chunks put together the way SDKs do it: texts grow, entries of lists are told apart by `index`.
#[track_caller]
pub(crate) fn accumulated(chunks: &[Value]) -> Value {
    let mut message = Map::new();
    for chunk in chunks {
        if let Some(delta) = chunk["choices"][0]["delta"].as_object() {
            add(&mut message, delta);
        }
    }
    Value::Object(message)
}

fn add(sum: &mut Map<String, Value>, delta: &Map<String, Value>) {
    for (name, value) in delta {
        match (sum.get_mut(name), value) {
            (None | Some(Value::Null), _) => {
                sum.insert(name.clone(), value.clone());
            }
            (Some(before), _) if name == "index" || name == "type" => *before = value.clone(),
            (Some(Value::String(before)), Value::String(more)) => before.push_str(more),
            (Some(Value::Object(before)), Value::Object(more)) => add(before, more),
            (Some(Value::Array(before)), Value::Array(more)) => {
                for entry in more {
                    let is_its = |known: &&mut Value| known["index"] == entry["index"];
                    match before.iter_mut().find(is_its) {
                        Some(Value::Object(known)) => add(known, entry.as_object().expect("an object")),
                        _ => before.push(entry.clone()),
                    }
                }
            }
            (Some(before), _) => assert!(value.is_null(), "{name}: {before} and {value}"),
        }
    }
}

/// A stream under way. Dropping it hangs up.
pub(crate) struct ChatStreaming(BufReader<TcpStream>);

impl ChatStreaming {
    /// Reads up to the first chunk whose delta has this field.
    #[track_caller]
    pub(crate) fn until(&mut self, field: &str) -> Value {
        let mut line = String::new();
        while self.0.read_line(&mut line).expect("a line") > 0 {
            if let Some(data) = line.strip_prefix("data: ") {
                let chunk: Value = serde_json::from_str(data).expect("JSON");
                if !chunk["choices"][0]["delta"][field].is_null() {
                    return chunk;
                }
            }
            line.clear();
        }
        panic!("the stream ended without {field}")
    }
}

//! What a test writes: the turns of a scripted model, what each one says and how it is delivered.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The body of `PUT /_script/{key}`.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    pub turns: Vec<Turn>,
}

/// One answer of the model. All that is not named has an ordinary value.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Turn {
    pub items: Vec<Item>,
    pub usage: Option<Usage>,
    pub status: Status,
    /// With `failed`: sent as an `error` event too, before `response.failed`.
    pub error: Option<TurnError>,
    /// Characters a delta. Not given: 12, and code is cut between its own characters, so that the code deltas
    /// are those of the reference traces. Given: the raw arguments are cut, in the middle of an escape too.
    pub chunk: Option<usize>,
    /// The body goes out in writes of so many bytes, whatever they cut through.
    pub bytes: Option<usize>,
    /// Time before the answer's first byte, its headers included.
    pub delay_ms: u64,
    /// Time before each delta.
    pub delta_delay_ms: u64,
    /// The connection is broken off after so many events.
    pub cut_after: Option<usize>,
    /// Status, headers and body of the answer. Without a body the items are sent, with these headers.
    pub http: Option<HttpAnswer>,
    /// The body as it is, in place of the items.
    pub raw: Option<String>,
    pub raw_base64: Option<String>,
    /// JSON even when a stream was asked for.
    pub json_only: bool,
    /// Fields put over those of the response (of the completion and of each chunk, in chat form).
    pub response: Map<String, Value>,
    /// Used by requests to this path only. Needed for paths other than the two that make a model speak.
    pub path: Option<String>,
    /// The request may name calls, items and responses that were never given out under its key.
    pub foreign: bool,
}

/// One thing the model says.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Item {
    Reasoning {
        reasoning: Reasoning,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        encrypted_content: Option<String>,
    },
    /// A call of the `python` tool with this code.
    Code {
        code: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call_id: Option<String>,
    },
    /// A call of the `python` tool with this text as its arguments, valid or not.
    Arguments {
        arguments: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call_id: Option<String>,
    },
    Call {
        call: FunctionCall,
    },
    CustomCall {
        custom_call: CustomCall,
    },
    Text {
        text: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        phase: Option<String>,
    },
    Refusal {
        refusal: String,
    },
    /// An output item as it is; an id is put in when it has none.
    Literal {
        item: Map<String, Value>,
    },
}

/// `true` for a reasoning item without a summary, or the summary's text.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(untagged)]
pub enum Reasoning {
    Present(bool),
    Summary(String),
}

#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct FunctionCall {
    pub name: String,
    pub arguments: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct CustomCall {
    pub name: String,
    pub input: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Usage {
    pub input_tokens: u64,
    pub cached_tokens: u64,
    pub cache_write_tokens: u64,
    pub output_tokens: u64,
    pub reasoning_tokens: u64,
}

impl Default for Usage {
    fn default() -> Self {
        Self {
            input_tokens: 100,
            cached_tokens: 0,
            cache_write_tokens: 0,
            output_tokens: 20,
            reasoning_tokens: 0,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    #[default]
    Completed,
    Incomplete,
    Failed,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TurnError {
    pub code: String,
    pub message: String,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct HttpAnswer {
    #[serde(default = "ok")]
    pub status: u16,
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    #[serde(default)]
    pub body: Option<Value>,
}

fn ok() -> u16 {
    200
}

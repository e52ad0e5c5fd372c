//! What a model counted, whichever API's words it used.

use serde_json::{Value, json};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tokens {
    input: Option<u64>,
    output: Option<u64>,
    cached: Option<u64>,
    reasoning: Option<u64>,
}

impl Tokens {
    /// Of a `usage` object.
    pub(super) fn of(usage: &Value) -> Self {
        let count = |names: [&str; 2]| names.iter().find_map(|name| usage.get(*name)?.as_u64());
        let detail = |names: [&str; 2], detail: &str| {
            names.iter().find_map(|name| usage.get(*name)?.get(detail)?.as_u64())
        };
        Self {
            input: count(["input_tokens", "prompt_tokens"]),
            output: count(["output_tokens", "completion_tokens"]),
            cached: detail(["input_tokens_details", "prompt_tokens_details"], "cached_tokens"),
            reasoning: detail(["output_tokens_details", "completion_tokens_details"], "reasoning_tokens"),
        }
    }

    pub(super) fn add(&mut self, other: &Self) {
        let add = |sum: &mut Option<u64>, more: Option<u64>| {
            if let Some(more) = more {
                *sum = Some(sum.unwrap_or(0).saturating_add(more));
            }
        };
        add(&mut self.input, other.input);
        add(&mut self.output, other.output);
        add(&mut self.cached, other.cached);
        add(&mut self.reasoning, other.reasoning);
    }

    /// Null: it was not said.
    pub(super) fn to_value(&self) -> Value {
        json!({
            "input": self.input,
            "output": self.output,
            "cached": self.cached,
            "reasoning": self.reasoning,
        })
    }
}

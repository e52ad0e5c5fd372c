//! Token counts.

use serde_json::{Value, json};

/// Chat Completions' counts in the words of the Responses API.
pub(super) fn usage(chat: &Value) -> Value {
    let count = |value: &Value| value.as_u64();
    let input = count(&chat["prompt_tokens"]).unwrap_or(0);
    let output = count(&chat["completion_tokens"]).unwrap_or(0);
    let asked = &chat["prompt_tokens_details"];
    let cached = count(&asked["cached_tokens"]).or_else(|| count(&chat["prompt_cache_hit_tokens"]));
    let reasoning = count(&chat["completion_tokens_details"]["reasoning_tokens"]);
    json!({
        "input_tokens": input,
        "input_tokens_details": {
            "cached_tokens": cached.unwrap_or(0),
            "cache_write_tokens": count(&asked["cache_write_tokens"]).unwrap_or(0),
        },
        "output_tokens": output,
        "output_tokens_details": {"reasoning_tokens": reasoning.unwrap_or(0)},
        "total_tokens": count(&chat["total_tokens"]).unwrap_or(input + output),
    })
}

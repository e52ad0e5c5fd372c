//! Ids in the form that OpenAI's own have: a prefix and 50 hex digits, the first 16 shared by
//! everything of one response, then the time.

use sandgate_core::{now_seconds, random_hex};

/// Makes the ids of one response.
#[derive(Clone, Debug)]
pub(crate) struct ResponseIds {
    stem: String,
    response: String,
}

impl ResponseIds {
    pub(crate) fn new() -> Self {
        let stem = random_hex(8);
        let response = with_stem("resp", &stem);
        Self { stem, response }
    }

    pub(crate) fn response(&self) -> &str {
        &self.response
    }

    pub(crate) fn item(&self, prefix: &str) -> String {
        with_stem(prefix, &self.stem)
    }
}

impl Default for ResponseIds {
    fn default() -> Self {
        Self::new()
    }
}

/// An id that belongs to no response yet: an item of a conversation, an input.
#[must_use]
pub fn fresh_id(prefix: &str) -> String {
    with_stem(prefix, &random_hex(8))
}

fn with_stem(prefix: &str, stem: &str) -> String {
    format!("{prefix}_{stem}00{:08x}{}", now_seconds() & 0xffff_ffff, random_hex(12))
}

/// The prefix of the ids of items of this type.
#[must_use]
pub fn prefix_of(item_type: &str) -> &str {
    match item_type {
        "message" => "msg",
        "reasoning" => "rs",
        "code_interpreter_call" => "ci",
        "function_call" => "fc",
        "function_call_output" => "fco",
        "custom_tool_call" => "ctc",
        "custom_tool_call_output" => "ctco",
        "web_search_call" => "ws",
        "file_search_call" => "fs",
        "image_generation_call" => "ig",
        "mcp_call" | "mcp_list_tools" | "mcp_approval_request" | "mcp_approval_response" => "mcp",
        "shell_call" => "sh",
        "shell_call_output" => "sho",
        "apply_patch_call" => "apc",
        "apply_patch_call_output" => "apco",
        "computer_call" => "cu",
        "computer_call_output" => "cuo",
        _ => "item",
    }
}

/// Whether an upstream's id can be kept: one that is long enough to be the only one of its kind.
/// Small servers number their items, and such a name would meet another conversation's.
pub(crate) fn is_unique(id: &str) -> bool {
    id.len() <= 80
        && id.split_once('_').is_some_and(|(prefix, rest)| {
            !prefix.is_empty() && rest.len() >= 24 && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
}

#[cfg(test)]
#[path = "ids_tests.rs"]
mod tests;

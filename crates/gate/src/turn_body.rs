//! What the upstream is asked in a turn: the client's own request, with the conversation so far, the
//! rewritten tool, and what is left of the limits that count over all turns.

use serde_json::{Map, Value, json};

use crate::request::INCLUDE_OUTPUTS;
use crate::rounds::last_round_note;
use crate::run::Run;
use crate::thoughts::{INCLUDE_THOUGHTS, asks_for_thoughts, readable};
use crate::tools::TurnTools;

impl Run {
    pub(crate) fn turn_body(&self) -> Map<String, Value> {
        let mut body = self.request.body.clone();
        for ours in ["background", "conversation", "previous_response_id"] {
            body.shift_remove(ours);
        }
        if let Some(previous) = &self.upstream_previous {
            body.insert("previous_response_id".to_owned(), json!(previous));
        }
        // What is said stays here; the upstream need not keep it.
        body.insert("store".to_owned(), json!(false));
        body.insert("input".to_owned(), Value::Array(readable(&self.model_input)));
        let include = self.upstream_include();
        if include.is_empty() {
            body.shift_remove("include");
        } else {
            body.insert("include".to_owned(), json!(include));
        }
        if let Some(left) = self.tokens_left() {
            body.insert("max_output_tokens".to_owned(), json!(left));
        }
        if let Some(tools) = &self.tools {
            // Calls of ours are no tool calls to the upstream; it counts its own, if it has any.
            if let Some(most) = self.request.max_tool_calls {
                if tools.has_hosted() {
                    body.insert("max_tool_calls".to_owned(), json!(most.saturating_sub(self.calls).max(1)));
                } else {
                    body.shift_remove("max_tool_calls");
                }
            }
            tools.apply(&mut body, TurnTools::of(self.rounds, self.may_call()));
        }
        body
    }

    /// What the client wants, without what is ours, and what the next turn needs.
    fn upstream_include(&self) -> Vec<&str> {
        let asked = self.request.include.iter().map(String::as_str);
        let mut include: Vec<&str> = asked.filter(|name| *name != INCLUDE_OUTPUTS).collect();
        if asks_for_thoughts(&self.request.body) && !include.contains(&INCLUDE_THOUGHTS) {
            include.push(INCLUDE_THOUGHTS);
        }
        include
    }

    /// What is left of the client's limit, which counts over all turns.
    pub(crate) fn tokens_left(&self) -> Option<u64> {
        self.request.max_output_tokens.map(|most| most.saturating_sub(self.usage.output_tokens()))
    }

    /// Whether another code call would be run.
    pub(crate) fn may_call(&self) -> bool {
        self.tools.is_some()
            && self.rounds < self.config.rounds
            && self.request.max_tool_calls.is_none_or(|most| self.calls < most)
    }

    /// For the model, when it will not be able to call again.
    pub(crate) fn last_call_note(&self) -> Option<String> {
        if let Some(note) = last_round_note(self.rounds, self.config.rounds) {
            return Some(note);
        }
        let most = self.request.max_tool_calls?;
        (self.calls >= most)
            .then(|| format!("this was the last of {most} tool calls in this response; answer now"))
    }
}

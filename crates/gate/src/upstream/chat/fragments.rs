//! Tool calls put together from the fragments they come in. Servers differ: whole calls or letters, with
//! or without index and id, the name once or with every piece.

use std::borrow::Cow;

use serde::de::IgnoredAny;
use serde_json::{Map, Value};

/// The calls of one answer, in the order they began.
#[derive(Debug, Default)]
pub(crate) struct GatheredCalls {
    pub(crate) list: Vec<GatheredCall>,
}

/// A call as far as it has come.
#[derive(Debug)]
pub(crate) struct GatheredCall {
    index: Option<u64>,
    pub(crate) id: Option<String>,
    /// A custom tool's, whose text is no JSON.
    pub(crate) is_custom: bool,
    pub(crate) name: String,
    /// The arguments of a function, the input of a custom tool.
    pub(crate) text: String,
    /// Fields that only the server knows, and wants back.
    pub(crate) more: Map<String, Value>,
}

/// What a fragment added, and to which call.
#[derive(Debug)]
pub(crate) struct Addition {
    pub(crate) call: usize,
    pub(crate) text: String,
}

impl GatheredCall {
    pub(crate) fn is_complete(&self) -> bool {
        // The cheap look first: this is asked for every piece that comes.
        self.text.trim_end().ends_with('}') && serde_json::from_str::<IgnoredAny>(&self.text).is_ok()
    }
}

struct Fragment<'a> {
    index: Option<u64>,
    id: Option<&'a str>,
    name: Option<&'a str>,
    text: Cow<'a, str>,
    is_custom: bool,
}

impl<'a> Fragment<'a> {
    fn new(tool_call: &'a Value) -> Self {
        let is_custom = tool_call["custom"].is_object();
        let (inner, field) =
            if is_custom { (&tool_call["custom"], "input") } else { (&tool_call["function"], "arguments") };
        let given = |value: &'a Value| value.as_str().filter(|text| !text.is_empty());
        let text = match &inner[field] {
            Value::String(text) => Cow::Borrowed(text.as_str()),
            Value::Null => Cow::Borrowed(""),
            // Some servers send the arguments themselves in place of their text.
            other => Cow::Owned(other.to_string()),
        };
        Self {
            index: tool_call["index"].as_u64(),
            id: given(&tool_call["id"]),
            name: given(&inner["name"]),
            text,
            is_custom,
        }
    }
}

impl GatheredCalls {
    pub(crate) fn add(&mut self, tool_call: &Value) -> Addition {
        let fragment = Fragment::new(tool_call);
        let at = self.which(&fragment);
        let call = &mut self.list[at];
        if call.name.is_empty() {
            call.name.push_str(fragment.name.unwrap_or_default());
        }
        call.text.push_str(&fragment.text);
        let known = ["index", "id", "type", "function", "custom"];
        let more = tool_call.as_object().into_iter().flatten();
        let more = more.filter(|(name, _)| !known.contains(&name.as_str()));
        call.more.extend(more.map(|(name, value)| (name.clone(), value.clone())));
        Addition { call: at, text: fragment.text.into_owned() }
    }

    /// The call a fragment belongs to; a new one where it begins one.
    fn which(&mut self, fragment: &Fragment<'_>) -> usize {
        let is_its = |call: &GatheredCall| match (fragment.index, fragment.id) {
            (Some(index), _) => call.index == Some(index),
            (None, Some(id)) if fragment.name.is_some() => call.id.as_deref() == Some(id),
            // Neither index nor name: it goes on with the last one.
            (None, _) => true,
        };
        if let Some(at) = self.list.iter().rposition(is_its) {
            let call = &self.list[at];
            let same_id = fragment.id.is_some() && fragment.id == call.id.as_deref();
            let says_more = fragment.id.is_some() || !fragment.text.trim().is_empty();
            let another_name = fragment.index.is_none()
                && fragment.name.is_some_and(|name| !call.name.is_empty() && name != call.name);
            // A name again, after arguments that are complete: another call under the same index.
            let begins = another_name || (fragment.name.is_some() && says_more && call.is_complete());
            if same_id || !begins {
                return at;
            }
        }
        self.list.push(GatheredCall {
            index: fragment.index,
            id: fragment.id.map(ToOwned::to_owned),
            is_custom: fragment.is_custom,
            name: String::new(),
            text: String::new(),
            more: Map::new(),
        });
        self.list.len() - 1
    }
}

//! Short ways to write the turns that most tests need.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::script::{FunctionCall, HttpAnswer, Item, Reasoning, Turn};

impl Turn {
    #[must_use]
    pub fn of(items: impl IntoIterator<Item = Item>) -> Self {
        Self { items: items.into_iter().collect(), ..Self::default() }
    }

    /// The model runs this code.
    #[must_use]
    pub fn code(code: impl Into<String>) -> Self {
        Self::of([Item::code(code)])
    }

    /// The model answers with this text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::of([Item::text(text)])
    }

    /// The upstream answers with an HTTP error.
    #[must_use]
    pub fn http(status: u16, body: Value) -> Self {
        let http = HttpAnswer { status, headers: BTreeMap::new(), body: Some(body) };
        Self { http: Some(http), ..Self::default() }
    }
}

impl Item {
    #[must_use]
    pub fn reasoning() -> Self {
        Self::Reasoning { reasoning: Reasoning::Present(true), encrypted_content: None }
    }

    #[must_use]
    pub fn summary(text: impl Into<String>) -> Self {
        Self::Reasoning { reasoning: Reasoning::Summary(text.into()), encrypted_content: None }
    }

    #[must_use]
    pub fn code(code: impl Into<String>) -> Self {
        Self::Code { code: code.into(), call_id: None }
    }

    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into(), phase: None }
    }

    #[must_use]
    pub fn call(name: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self::Call { call: FunctionCall { name: name.into(), arguments: arguments.into(), call_id: None } }
    }
}

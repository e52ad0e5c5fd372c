//! A server with keys: the operator, and clients whose keys it made.

use std::ops::Deref;

use sandgate_testkit::{Request, Turn};
use serde_json::{Value, json};

use super::{Client, World};

pub(crate) const MASTER: &str = "sg-master-of-this-test-server";
/// What the upstream knows, and no client.
pub(crate) const UPSTREAM: &str = "sk-the-operators-own";

pub(crate) struct Keyed(World);

impl Deref for Keyed {
    type Target = World;

    fn deref(&self) -> &World {
        &self.0
    }
}

impl Keyed {
    pub(crate) fn start(api: &str) -> Self {
        Self::with(api, "")
    }

    /// With more lines of configuration.
    pub(crate) fn with(api: &str, more: &str) -> Self {
        Self(World::configured(|url| {
            format!(
                "pool: 2\nlog: debug\nmaster_key: {MASTER}\nupstream: {{url: '{url}', api: {api}, key: {UPSTREAM}}}\n{more}"
            )
        }))
    }

    pub(crate) fn with_key(&self, key: &str) -> Client {
        Client { key: key.to_owned(), ..self.0.client([]) }
    }

    pub(crate) fn master(&self) -> Client {
        self.with_key(MASTER)
    }

    /// A key as the operator wants it, and a client that has it.
    #[track_caller]
    pub(crate) fn make(&self, wish: Value) -> (Value, Client) {
        let mut fields = json!({"name": "test"});
        fields.as_object_mut().unwrap().extend(wish.as_object().unwrap().clone());
        let made = self.master().post("/v1/admin/keys", &fields).ok();
        let client = self.with_key(made["key"].as_str().unwrap());
        (made, client)
    }

    #[track_caller]
    pub(crate) fn limited(&self, limits: Value) -> Client {
        self.make(json!({"limits": limits})).1
    }

    /// What the model says next, whoever asks.
    pub(crate) fn script(&self, turns: impl IntoIterator<Item = Turn>) {
        self.0.model.script(UPSTREAM, turns);
    }

    /// What the model was asked.
    pub(crate) fn heard(&self) -> Vec<Request> {
        self.0.model.requests(UPSTREAM)
    }
}

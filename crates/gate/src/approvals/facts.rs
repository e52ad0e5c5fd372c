//! What is known of code that asks to run: what rules see, what a webhook is sent, what a person is shown.

use sandgate_core::{now_seconds, random_hex};
use serde::Serialize;

use super::Question;

#[derive(Clone, Debug, Serialize)]
pub struct Facts {
    pub id: String,
    pub object: &'static str,
    pub created_at: u64,
    pub request_id: String,
    pub door: String,
    pub model: Option<String>,
    pub key: KeyFacts,
    pub container: ContainerFacts,
    pub language: String,
    pub imports: Vec<String>,
    pub code: String,
}

#[derive(Clone, Debug, Serialize)]
pub struct KeyFacts {
    pub id: Option<String>,
    pub name: Option<String>,
    pub owner: String,
}

#[derive(Clone, Debug, Serialize)]
pub struct ContainerFacts {
    pub id: String,
    pub name: Option<String>,
}

impl Facts {
    /// `imports` are still to be read.
    pub(super) fn new(question: &Question<'_>, key_name: Option<String>) -> Self {
        let Question { code, language, model, key, owner, container, container_name, door, request_id } =
            *question;
        Self {
            id: format!("appr_{}", random_hex(12)),
            object: "approval",
            created_at: now_seconds(),
            request_id: request_id.to_owned(),
            door: door.to_owned(),
            model: model.map(ToOwned::to_owned),
            key: KeyFacts {
                id: key.map(ToOwned::to_owned),
                name: key_name,
                owner: owner.as_str().to_owned(),
            },
            container: ContainerFacts {
                id: container.as_str().to_owned(),
                name: container_name.map(ToOwned::to_owned),
            },
            language: language.to_owned(),
            imports: Vec::new(),
            code: code.to_owned(),
        }
    }
}

//! Responses that were passed on and that an upstream keeps. With one account for all keys, only this tells whose
//! each is; with several upstreams, only this tells which of them has it.

use rusqlite::params;
use sandgate_core::{Owner, now_seconds};

use crate::pages::first;
use crate::{Result, Store, if_there};

/// Where a passed response is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PassedTo {
    /// What the upstream is called.
    pub upstream: Option<String>,
    /// The model as its maker called it.
    pub model: Option<String>,
}

impl Store {
    /// Whoever is noted first stays its owner.
    pub async fn note_passed_response(&self, owner: &Owner, id: &str, to: &PassedTo) -> Result<()> {
        let (owner, id, to) = (owner.clone(), id.to_owned(), to.clone());
        self.write(move |transaction| {
            let text = "INSERT INTO passed_responses (id, owner, created_at, upstream, model)
                        VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (id) DO NOTHING";
            let values = params![id, owner.as_str(), now_seconds(), to.upstream, to.model];
            transaction.prepare_cached(text)?.execute(values)?;
            Ok(())
        })
        .await
    }

    /// None: the owner has passed on no such response.
    pub async fn passed_response(&self, owner: &Owner, id: &str) -> Result<Option<PassedTo>> {
        let (owner, id) = (owner.clone(), id.to_owned());
        let found = self
            .read(move |transaction| {
                let text = "SELECT upstream, model FROM passed_responses WHERE id = ?1 AND owner = ?2";
                first(transaction, text, [&id, owner.as_str()], |row| {
                    Ok(PassedTo { upstream: row.get(0)?, model: row.get(1)? })
                })
            })
            .await;
        if_there(found)
    }
}

#[cfg(test)]
#[path = "passed_responses_tests.rs"]
mod tests;

//! Responses that were passed on and that the upstream keeps. With one account for all keys, only this
//! tells whose each is.

use rusqlite::params;
use sandgate_core::{Owner, now_seconds};

use crate::pages::first;
use crate::{Result, Store};

impl Store {
    /// Whoever is noted first stays its owner.
    pub async fn note_passed_response(&self, owner: &Owner, id: &str) -> Result<()> {
        let (owner, id) = (owner.clone(), id.to_owned());
        self.write(move |transaction| {
            let text = "INSERT INTO passed_responses (id, owner, created_at) VALUES (?1, ?2, ?3)
                        ON CONFLICT (id) DO NOTHING";
            transaction.prepare_cached(text)?.execute(params![id, owner.as_str(), now_seconds()])?;
            Ok(())
        })
        .await
    }

    pub async fn has_passed_response(&self, owner: &Owner, id: &str) -> Result<bool> {
        let (owner, id) = (owner.clone(), id.to_owned());
        self.read(move |transaction| {
            let text = "SELECT EXISTS (SELECT 1 FROM passed_responses WHERE id = ?1 AND owner = ?2)";
            first(transaction, text, [&id, owner.as_str()], |row| Ok(row.get(0)?))
        })
        .await
    }
}

#[cfg(test)]
#[path = "passed_responses_tests.rs"]
mod tests;

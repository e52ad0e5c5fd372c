//! The stream events of background responses, kept so that a client can come back for the rest.

use rusqlite::{Transaction, params};

use crate::pages::{all, first, signed};
use crate::{Result, Store};

impl Store {
    /// The response must have been saved. An event whose number is there already is replaced.
    pub async fn append_events(&self, response_id: &str, events: &[(u64, String)]) -> Result<()> {
        let (id, events) = (response_id.to_owned(), events.to_vec());
        self.write(move |transaction| {
            let response = find(transaction, &id)?;
            let mut statement = transaction.prepare_cached(
                "INSERT INTO events (response, number, data) VALUES (?1, ?2, ?3)
                 ON CONFLICT (response, number) DO UPDATE SET data = excluded.data",
            )?;
            for (number, data) in &events {
                statement.execute(params![response, signed(*number), data])?;
            }
            Ok(())
        })
        .await
    }

    /// By number; `None` asks for all. Whoever calls this has checked whose response it is.
    pub async fn events_after(&self, response_id: &str, after: Option<u64>) -> Result<Vec<(u64, String)>> {
        let id = response_id.to_owned();
        let after = after.map_or(-1, signed);
        self.read(move |transaction| {
            let response = find(transaction, &id)?;
            let text = "SELECT number, data FROM events WHERE response = ?1 AND number > ?2 ORDER BY number";
            all(transaction, text, [response, after], |row| Ok((row.get(0)?, row.get(1)?)))
        })
        .await
    }
}

fn find(transaction: &Transaction<'_>, id: &str) -> Result<i64> {
    first(transaction, "SELECT seq FROM responses WHERE id = ?1", [id], |row| Ok(row.get(0)?))
}

#[cfg(test)]
#[path = "events_tests.rs"]
mod tests;

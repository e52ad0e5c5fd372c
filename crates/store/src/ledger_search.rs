//! Looking things up in the ledger. It may be long, so the thread that everybody waits for does not do it:
//! each search has a connection of its own, which changes nothing and holds nobody up.

use rusqlite::{Connection, OpenFlags, ToSql};
use sandgate_core::Owner;

use crate::ledger::{COLUMNS, LedgerRecord, read_record};
use crate::pages::{List, all, signed};
use crate::{Listed, Page, Result, Store, StoreError};

/// What is looked for; None: everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LedgerFilter {
    /// The id that the client knows.
    pub request: Option<String>,
    pub owner: Option<Owner>,
    pub key: Option<String>,
    pub kind: Option<String>,
    pub status: Option<String>,
    pub model: Option<String>,
    pub container: Option<String>,
    /// What began at this time or later, in milliseconds since 1970.
    pub since_ms: Option<u64>,
    /// What began before.
    pub until_ms: Option<u64>,
}

/// A request and what was done for it, in the order it began.
#[derive(Clone, Debug, PartialEq)]
pub struct LedgerTree {
    pub request: LedgerRecord,
    pub children: Vec<LedgerRecord>,
    /// There are more than are here.
    pub has_more: bool,
}

/// Where a walk through the ledger stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LedgerPlace(i64);

impl Store {
    pub async fn ledger(&self, filter: &LedgerFilter, page: &Page) -> Result<Listed<LedgerRecord>> {
        let (filter, page) = (filter.clone(), page.clone());
        self.search(move |connection| {
            let condition = Condition::of(&filter);
            let text = condition.text();
            let list = List { columns: COLUMNS, from: "ledger", filter: &text, id: "id", order: "seq" };
            list.page(connection, &condition.named(), &page, read_record)
        })
        .await
    }

    /// The next records in the order they were written, and where they end; the same place as before: there
    /// are no more. What is removed meanwhile does not break the walk.
    pub async fn ledger_after(
        &self,
        filter: &LedgerFilter,
        place: LedgerPlace,
        most: usize,
    ) -> Result<(Vec<LedgerRecord>, LedgerPlace)> {
        let filter = filter.clone();
        self.search(move |connection| {
            let condition = Condition::of(&filter);
            let text = format!(
                "SELECT {COLUMNS}, seq FROM ledger WHERE {} AND seq > :place ORDER BY seq LIMIT :most",
                condition.text()
            );
            let most = i64::try_from(most).unwrap_or(i64::MAX);
            let mut named = condition.named();
            named.extend([(":place", &place.0 as &dyn ToSql), (":most", &most)]);
            let found =
                all(connection, &text, named.as_slice(), |row| Ok((read_record(row)?, row.get(12)?)))?;
            let last = found.last().map_or(place, |(_, seq)| LedgerPlace(*seq));
            Ok((found.into_iter().map(|(record, _)| record).collect(), last))
        })
        .await
    }

    /// The requests that the client knows under this id, the newest first, each with at most `most` of what
    /// was done for it. None: of every owner.
    pub async fn ledger_trees(
        &self,
        request: &str,
        owner: Option<&Owner>,
        requests: usize,
        most: usize,
    ) -> Result<Vec<LedgerTree>> {
        let filter = LedgerFilter {
            request: Some(request.to_owned()),
            owner: owner.cloned(),
            ..LedgerFilter::default()
        };
        self.search(move |connection| {
            let condition = Condition::of(&filter);
            let text = format!(
                "SELECT {COLUMNS} FROM ledger WHERE {} AND parent IS NULL ORDER BY seq DESC LIMIT {requests}",
                condition.text()
            );
            let roots = all(connection, &text, condition.named().as_slice(), read_record)?;
            let text = format!("SELECT {COLUMNS} FROM ledger WHERE parent = ?1 ORDER BY seq LIMIT ?2");
            let one_more = i64::try_from(most).unwrap_or(i64::MAX).saturating_add(1);
            let tree = |request: LedgerRecord| {
                let params: [&dyn ToSql; 2] = [&request.id, &one_more];
                let mut children = all(connection, &text, params, read_record)?;
                let has_more = children.len() > most;
                children.truncate(most);
                Ok(LedgerTree { request, children, has_more })
            };
            roots.into_iter().map(tree).collect()
        })
        .await
    }

    async fn search<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (permit, database) = (self.searches.acquire().await, self.database.clone());
        let _permit = permit.map_err(|_| StoreError::Closed)?;
        let searched = tokio::task::spawn_blocking(move || {
            let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            let connection = Connection::open_with_flags(database, flags)?;
            connection.busy_timeout(crate::open::BUSY)?;
            work(&connection)
        });
        searched.await.map_err(|_| StoreError::Panicked)?
    }
}

/// A filter as SQL: only what is asked for is in it, so that an index can serve.
struct Condition(Vec<(&'static str, &'static str, Box<dyn ToSql>)>);

impl Condition {
    fn of(filter: &LedgerFilter) -> Self {
        let mut parts: Vec<(&'static str, &'static str, Box<dyn ToSql>)> = Vec::new();
        let texts = [
            ("request = :request", ":request", &filter.request),
            ("key = :key", ":key", &filter.key),
            ("kind = :kind", ":kind", &filter.kind),
            ("status = :status", ":status", &filter.status),
            ("model = :model", ":model", &filter.model),
            ("container = :container", ":container", &filter.container),
        ];
        for (condition, name, value) in texts {
            if let Some(value) = value {
                parts.push((condition, name, Box::new(value.clone())));
            }
        }
        if let Some(owner) = &filter.owner {
            parts.push(("owner = :owner", ":owner", Box::new(owner.as_str().to_owned())));
        }
        if let Some(since) = filter.since_ms {
            parts.push(("began_ms >= :since", ":since", Box::new(signed(since))));
        }
        if let Some(until) = filter.until_ms {
            parts.push(("began_ms < :until", ":until", Box::new(signed(until))));
        }
        Self(parts)
    }

    fn text(&self) -> String {
        let parts: Vec<&str> = self.0.iter().map(|(condition, ..)| *condition).collect();
        if parts.is_empty() { "1".to_owned() } else { parts.join(" AND ") }
    }

    fn named(&self) -> Vec<(&str, &dyn ToSql)> {
        self.0.iter().map(|(_, name, value)| (*name, &**value)).collect()
    }
}

#[cfg(test)]
#[path = "ledger_search_tests.rs"]
mod tests;

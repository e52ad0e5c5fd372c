//! Looking things up in the ledger. It may be long, so the thread that everybody waits for does not do it:
//! each search has a connection of its own, which changes nothing and holds nobody up.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags, ToSql};
use sandgate_core::Owner;

use crate::ledger::{COLUMNS, LedgerRecord, read_record};
use crate::pages::{List, Within, all, first, signed, size};
use crate::{Listed, Page, Result, Store, StoreError};

/// A search that takes longer is given up: it looks for what no index helps to find.
const LONGEST: Duration = Duration::from_secs(30);
/// Steps of SQLite between two looks at whether to go on.
const STEPS: i32 = 10_000;
/// What one answer holds of records that may hold code and output.
const MOST_BYTES: usize = 8 << 20;

/// What is looked for; None: everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LedgerFilter {
    /// The id that the client knows.
    pub request: Option<String>,
    /// A part of that id.
    pub request_part: Option<String>,
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
            let place = |id: &String| place(connection, id, filter.owner.as_ref());
            let within = Within {
                after: page.after.as_ref().map(place).transpose()?,
                before: page.before.as_ref().map(place).transpose()?,
                bytes: MOST_BYTES,
            };
            list.page_within(connection, &condition.named(), &page, &within, read_record)
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
            let mut statement = connection.prepare_cached(&text)?;
            let mut rows = statement.query(named.as_slice())?;
            let (mut found, mut last, mut bytes) = (Vec::new(), place, 0);
            while let Some(row) = rows.next()? {
                bytes += size(row)?;
                if bytes > MOST_BYTES && !found.is_empty() {
                    break;
                }
                found.push(read_record(row)?);
                last = LedgerPlace(row.get(12)?);
            }
            Ok((found, last))
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
            let mut bytes = 0;
            let mut tree = |request: LedgerRecord| {
                let mut statement = connection.prepare_cached(&text)?;
                let mut rows = statement.query([&request.id as &dyn ToSql, &one_more])?;
                let (mut children, mut has_more) = (Vec::new(), false);
                while let Some(row) = rows.next()? {
                    bytes += size(row)?;
                    has_more = children.len() == most || bytes > MOST_BYTES;
                    if has_more {
                        break;
                    }
                    children.push(read_record(row)?);
                }
                Ok(LedgerTree { request, children, has_more })
            };
            roots.into_iter().map(&mut tree).collect()
        })
        .await
    }

    async fn search<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let permit = Arc::clone(&self.searches).acquire_owned().await.map_err(|_| StoreError::Closed)?;
        let database = self.database.clone();
        let waits = Waits::default();
        let has_left = Arc::clone(&waits.0);
        let searched = tokio::task::spawn_blocking(move || {
            // Given back when the work is over, which may be after whoever asked has left.
            let _permit = permit;
            let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            let mut connection = Connection::open_with_flags(database, flags)?;
            connection.busy_timeout(crate::open::BUSY)?;
            let began = Instant::now();
            let is_over = move || has_left.load(Ordering::Relaxed) || began.elapsed() > LONGEST;
            connection.progress_handler(STEPS, Some(is_over))?;
            work(&connection)
        });
        match searched.await.map_err(|_| StoreError::Panicked)? {
            Err(StoreError::Sqlite(error))
                if error.sqlite_error_code() == Some(rusqlite::ErrorCode::OperationInterrupted) =>
            {
                Err(StoreError::TooSlow)
            }
            searched => searched,
        }
    }
}

/// Dropped with the future that waits for a search, it ends the search.
#[derive(Default)]
struct Waits(Arc<AtomicBool>);

impl Drop for Waits {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Where a record stands, whatever it says by now. Another owner's is not there.
fn place(connection: &Connection, id: &str, owner: Option<&Owner>) -> Result<i64> {
    let text = "SELECT seq FROM ledger WHERE id = ?1 AND (?2 IS NULL OR owner = ?2)";
    first(connection, text, (id, owner.map(Owner::as_str)), |row| Ok(row.get(0)?))
}

/// A filter as SQL: only what is asked for is in it, so that an index can serve.
struct Condition(Vec<(&'static str, &'static str, Box<dyn ToSql>)>);

impl Condition {
    fn of(filter: &LedgerFilter) -> Self {
        let mut parts: Vec<(&'static str, &'static str, Box<dyn ToSql>)> = Vec::new();
        let texts = [
            ("request = :request", ":request", &filter.request),
            ("instr(request, :part) > 0", ":part", &filter.request_part),
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

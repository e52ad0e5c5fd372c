//! `sandgate ledger`: the records in the store of the home, read beside a running server.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::{Context, Result};
use jiff::Timestamp;
use sandgate_doors::admin::{MOST_CHILDREN, MOST_REQUESTS, ledger_object, ledger_tree};
use sandgate_store::{LedgerFilter, LedgerPlace, LedgerRecord, LedgerTree, Page, Store};
use serde_json::{Value, json};

use crate::bad_input::BadInput;
use crate::home;
use crate::ledger_args::{LedgerArgs, LedgerCommand};
use crate::session::runtime;
use crate::visible::visible;

/// Records read at once.
const PIECE: usize = 500;

pub(crate) fn ledger(args: LedgerArgs) -> Result<ExitCode> {
    runtime()?.block_on(Box::pin(done(args)))?;
    Ok(ExitCode::SUCCESS)
}

async fn done(LedgerArgs { command, json }: LedgerArgs) -> Result<()> {
    let home = home::open()?;
    let store = Store::open_beside(&home).await;
    let store = store.with_context(|| format!("cannot use the store in {}", home.display()))?;
    match command {
        LedgerCommand::List { filter, limit } => {
            let found = newest(&store, &filter.into(), limit).await?;
            let shown: Vec<Value> = found.iter().map(ledger_object).collect();
            print(&if json { format!("{:#}\n", json!(shown)) } else { table(&found) }).map(drop)
        }
        LedgerCommand::Show { request } => {
            let trees = store.ledger_trees(&request, None, MOST_REQUESTS, MOST_CHILDREN).await?;
            if trees.is_empty() {
                return Err(BadInput::error(format!(
                    "there is no record of a request with the id '{request}'; 'sandgate ledger list' shows the newest"
                )));
            }
            let shown: Vec<Value> = trees.iter().map(ledger_tree).collect();
            print(&if json { format!("{:#}\n", json!(shown)) } else { in_words(&trees) }).map(drop)
        }
        LedgerCommand::Export { filter } => export(&store, &filter.into()).await,
    }
}

/// A page of the store ends where it grows too large; so it may take several.
async fn newest(store: &Store, filter: &LedgerFilter, limit: usize) -> Result<Vec<LedgerRecord>> {
    let mut found: Vec<LedgerRecord> = Vec::new();
    while found.len() < limit {
        let after = found.last().map(|record| record.id.clone());
        let page = Page { limit: limit - found.len(), descending: true, after, before: None };
        let listed = store.ledger(filter, &page).await?;
        let is_last = !listed.has_more || listed.data.is_empty();
        found.extend(listed.data);
        if is_last {
            break;
        }
    }
    Ok(found)
}

async fn export(store: &Store, filter: &LedgerFilter) -> Result<()> {
    let mut place = LedgerPlace::default();
    loop {
        let (records, next) = store.ledger_after(filter, place, PIECE).await?;
        let lines = records.iter().map(|record| format!("{}\n", ledger_object(record)));
        if !print(&lines.collect::<String>())? || next == place {
            return Ok(());
        }
        place = next;
    }
}

/// False: nobody reads it any more.
fn print(text: &str) -> Result<bool> {
    match io::stdout().lock().write_all(text.as_bytes()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn table(records: &[LedgerRecord]) -> String {
    if records.is_empty() {
        return "there are no such records\n".to_owned();
    }
    let mut text =
        format!("{:<24}  {:<9}  {:<10}  {:>10}  {:<36}  what\n", "began", "kind", "status", "ms", "request");
    for record in records {
        let LedgerRecord { kind, status, request, .. } = record;
        let (began, took) = (moment(record.began_ms), took(record));
        let _ = writeln!(
            text,
            "{began:<24}  {kind:<9}  {status:<10}  {took:>10}  {:<36}  {}",
            visible(request),
            what(record)
        );
    }
    text
}

fn in_words(trees: &[LedgerTree]) -> String {
    let mut text = String::new();
    for tree in trees {
        for record in std::iter::once(&tree.request).chain(&tree.children) {
            let indent = if record.parent.is_some() { "  " } else { "" };
            let (began, took) = (moment(record.began_ms), took(record));
            let LedgerRecord { kind, status, id, .. } = record;
            let _ = writeln!(text, "{indent}{kind}  {status}  {took} ms  {began}  {id}");
            let mut fields = ledger_object(record);
            if let Value::Object(fields) = &mut fields {
                fields.retain(|name, value| !SAID_ABOVE.contains(&name.as_str()) && !value.is_null());
                for (name, value) in fields {
                    let _ = writeln!(text, "{indent}    {name}: {}", visible(&value.to_string()));
                }
            }
        }
        if tree.has_more {
            let _ = writeln!(text, "  … and more; 'sandgate ledger export --request …' has all");
        }
    }
    text
}

const SAID_ABOVE: [&str; 8] =
    ["id", "object", "kind", "status", "duration_ms", "began_at_ms", "ended_at_ms", "parent_id"];

/// What tells one record from another at a glance.
fn what(record: &LedgerRecord) -> String {
    let field = |name: &str| record.body.get(name).and_then(Value::as_str).map(str::to_owned);
    let parts = match record.kind {
        "request" => [field("path"), record.model.clone(), Some(record.owner.to_string())],
        "turn" => [record.model.clone(), field("upstream"), field("error")],
        "connection" => [field("name").or_else(|| field("address")), field("way"), field("reason")],
        "execution" => [record.container.clone(), field("ending"), field("limit")],
        _ => [field("by"), field("rule"), field("reason")],
    };
    let parts: Vec<String> = parts.into_iter().flatten().map(|part| visible(&part)).collect();
    parts.join("  ")
}

fn took(record: &LedgerRecord) -> String {
    let took = record.body.get("duration_ms").and_then(Value::as_f64);
    took.map_or_else(|| "-".to_owned(), |ms| format!("{ms:.1}"))
}

fn moment(ms: u64) -> String {
    let moment = i64::try_from(ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
    moment.map_or_else(|| ms.to_string(), |moment| format!("{moment:.3}"))
}

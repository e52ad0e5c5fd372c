//! `sandgate key`: keys made, shown, limited and revoked in the store of the home, beside a running server.

use std::fmt::Write as _;
use std::io::Write;
use std::process::ExitCode;

use anyhow::{Context, Result};
use sandgate_core::{InvalidLimits, KeyLimits, Secret};
use sandgate_doors::admin::{check_name, check_owner, key_object};
use sandgate_store::{KeyRecord, NewKey, Page, Store, StoreError};
use serde_json::{Value, json};

use crate::bad_input::BadInput;
use crate::home;
use crate::key_args::{KeyArgs, KeyCommand, LimitArgs};
use crate::session::runtime;

pub(crate) fn key(args: KeyArgs) -> Result<ExitCode> {
    let text = runtime()?.block_on(Box::pin(done(args)))?;
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(ExitCode::SUCCESS),
    }
}

async fn done(KeyArgs { command, json }: KeyArgs) -> Result<String> {
    let home = home::open()?;
    let open = async || {
        let store = Store::open_beside(&home).await;
        store.with_context(|| format!("cannot use the store in {}", home.display()))
    };
    match command {
        KeyCommand::Create { name, owner, expires, limits } => {
            let new = wanted(name, owner.as_deref(), expires, limits)?;
            let (record, secret) = open().await?.create_key(new).await?;
            Ok(if json { made_as_json(&record, &secret) } else { made(&record, &secret) })
        }
        KeyCommand::List => {
            let all = all_keys(&open().await?).await?;
            let shown: Vec<Value> = all.iter().map(key_object).collect();
            Ok(if json { format!("{:#}\n", json!(shown)) } else { table(&all) })
        }
        KeyCommand::Show { id } => {
            let record = open().await?.key(&id).await.map_err(|error| no_such(error, &id))?;
            Ok(format!("{:#}\n", key_object(&record)))
        }
        KeyCommand::Limit { id, limits, unset } => {
            let change = move |mut old: KeyLimits| {
                unset.iter().for_each(|name| name.take_off(&mut old));
                checked(limits.over(old))
            };
            let changed = open().await?.change_key_limits(&id, change).await;
            let record = changed.map_err(|error| no_such(error, &id))?.map_err(bad_limits)?;
            Ok(format!("{:#}\n", key_object(&record)))
        }
        KeyCommand::Revoke { id } => {
            let record = open().await?.revoke_key(&id).await.map_err(|error| no_such(error, &id))?;
            let said = format!("{} ({}) is revoked\n", record.id, record.name);
            Ok(if json { format!("{:#}\n", key_object(&record)) } else { said })
        }
    }
}

fn wanted(name: String, owner: Option<&str>, expires: Option<u64>, limits: LimitArgs) -> Result<NewKey> {
    check_name(&name).map_err(BadInput::error)?;
    let owner = owner.map(check_owner).transpose().map_err(BadInput::error)?;
    let limits = checked(limits.over(KeyLimits::default())).map_err(bad_limits)?;
    Ok(NewKey { name, owner, expires_in_seconds: expires, limits })
}

fn checked(limits: KeyLimits) -> Result<KeyLimits, InvalidLimits> {
    limits.check().map(|()| limits)
}

fn bad_limits(error: InvalidLimits) -> anyhow::Error {
    BadInput::error(error.to_string())
}

fn no_such(error: StoreError, id: &str) -> anyhow::Error {
    match error {
        StoreError::NotFound => {
            BadInput::error(format!("there is no key '{id}'; 'sandgate key list' shows all"))
        }
        other => other.into(),
    }
}

async fn all_keys(store: &Store) -> Result<Vec<KeyRecord>> {
    let page = Page { limit: usize::MAX - 1, descending: false, after: None, before: None };
    Ok(store.keys(&page).await?.data)
}

fn made_as_json(record: &KeyRecord, secret: &Secret) -> String {
    let mut object = key_object(record);
    object["key"] = json!(secret.expose());
    format!("{object:#}\n")
}

fn made(record: &KeyRecord, secret: &Secret) -> String {
    format!(
        "{}\n\n{} ({}), owner {}. Keep the key now: it is not shown again.\n",
        secret.expose(),
        record.id,
        record.name,
        record.owner
    )
}

fn table(all: &[KeyRecord]) -> String {
    if all.is_empty() {
        return "there are no keys; 'sandgate key create NAME' makes one\n".to_owned();
    }
    let mut text = format!("{:<28}  {:<9}  {:<8}  {:<28}  name\n", "id", "key", "state", "owner");
    for key in all {
        let state = match (key.revoked_at, key.is_expired()) {
            (Some(_), _) => "revoked",
            (None, true) => "expired",
            (None, false) => "valid",
        };
        let KeyRecord { id, shown, owner, name, .. } = key;
        let _ = writeln!(text, "{id:<28}  {shown:<9}  {state:<8}  {:<28}  {name}", owner.as_str());
    }
    text
}

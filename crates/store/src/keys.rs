//! The keys that the operator makes. Only a digest of the secret is kept, so nobody who reads the database
//! can act as a client.

use rusqlite::{Row, Transaction, named_params, params};
use sandgate_core::{KeyLimits, Owner, Secret, now_seconds, random_alphanumeric, random_hex};
use sha2::{Digest, Sha256};

use crate::pages::{List, first, signed};
use crate::{Listed, Page, Result, Store, StoreError};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRecord {
    pub id: String,
    pub name: String,
    pub hash: KeyHash,
    /// How it begins, for the eye.
    pub shown: String,
    pub owner: Owner,
    /// Seconds since 1970, as all times here.
    pub created_at: u64,
    pub expires_at: Option<u64>,
    pub revoked_at: Option<u64>,
    pub last_used_at: Option<u64>,
    pub limits: KeyLimits,
}

/// SHA-256 of a secret. The secrets made here are 256 random bits, so a slow digest would add nothing.
pub type KeyHash = [u8; 32];

/// What a key is made from.
#[derive(Clone, Debug, Default)]
pub struct NewKey {
    pub name: String,
    /// None: the key is an owner of its own.
    pub owner: Option<Owner>,
    pub expires_in_seconds: Option<u64>,
    pub limits: KeyLimits,
}

/// What the store knows about a secret.
#[derive(Clone, Debug)]
pub enum KeyFound {
    /// There has never been a key.
    NoKeys,
    Unknown,
    Known(Box<KeyRecord>),
}

/// What every key begins with.
pub const KEY_PREFIX: &str = "sg-";
/// Letters and digits with 256 bits in them.
const LENGTH: usize = 43;
/// Of them, how many may be shown.
const SHOWN: usize = 4;
/// How exact the time of the last use is, in seconds.
const USE_STEP: u64 = 60;

const COLUMNS: &str =
    "id, name, hash, shown, owner, created_at, expires_at, revoked_at, last_used_at, limits";

const KEYS: List = List { columns: COLUMNS, from: "keys", filter: "1", id: "id", order: "seq" };

impl KeyRecord {
    #[must_use]
    pub fn is_expired(&self) -> bool {
        self.expires_at.is_some_and(|at| at <= now_seconds())
    }

    /// Whether its last use is worth writing down.
    #[must_use]
    pub fn is_use_due(&self) -> bool {
        self.last_used_at.is_none_or(|at| now_seconds().saturating_sub(at) >= USE_STEP)
    }
}

#[must_use]
pub fn hash_key(secret: &str) -> KeyHash {
    Sha256::digest(secret.as_bytes()).into()
}

impl Store {
    /// The record and the secret, which is given out here and never again.
    pub async fn create_key(&self, new: NewKey) -> Result<(KeyRecord, Secret)> {
        let random = random_alphanumeric(LENGTH);
        let secret = format!("{KEY_PREFIX}{random}");
        let id = format!("key_{}", random_hex(12));
        let created_at = now_seconds();
        let record = KeyRecord {
            name: new.name,
            hash: hash_key(&secret),
            shown: format!("{KEY_PREFIX}{}…", &random[..SHOWN]),
            owner: new.owner.unwrap_or_else(|| Owner::from_stored(id.clone())),
            id,
            created_at,
            expires_at: new.expires_in_seconds.map(|seconds| created_at.saturating_add(seconds)),
            revoked_at: None,
            last_used_at: None,
            limits: new.limits,
        };
        let row = record.clone();
        self.write(move |transaction| insert(transaction, &row)).await?;
        Ok((record, Secret::new(secret)))
    }

    pub async fn find_key(&self, hash: KeyHash) -> Result<KeyFound> {
        self.read(move |transaction| {
            let text = format!("SELECT {COLUMNS} FROM keys WHERE hash = ?1");
            match first(transaction, &text, [&hash[..]], read_key) {
                Ok(record) => Ok(KeyFound::Known(Box::new(record))),
                Err(StoreError::NotFound) if has_keys(transaction)? => Ok(KeyFound::Unknown),
                Err(StoreError::NotFound) => Ok(KeyFound::NoKeys),
                Err(error) => Err(error),
            }
        })
        .await
    }

    /// Whether there has ever been a key.
    pub async fn has_keys(&self) -> Result<bool> {
        self.read(has_keys).await
    }

    pub async fn key(&self, id: &str) -> Result<KeyRecord> {
        let id = id.to_owned();
        self.read(move |transaction| by_id(transaction, &id)).await
    }

    /// Revoked and expired ones too.
    pub async fn keys(&self, page: &Page) -> Result<Listed<KeyRecord>> {
        let page = page.clone();
        self.read(move |transaction| KEYS.page(transaction, named_params! {}, &page, read_key)).await
    }

    /// The limits as `change` leaves them; it sees what is there at that moment.
    pub async fn change_key_limits<E: Send + 'static>(
        &self,
        id: &str,
        change: impl FnOnce(KeyLimits) -> Result<KeyLimits, E> + Send + 'static,
    ) -> Result<Result<KeyRecord, E>> {
        let id = id.to_owned();
        self.write(move |transaction| {
            let mut record = by_id(transaction, &id)?;
            match change(record.limits) {
                Ok(limits) => record.limits = limits,
                Err(refused) => return Ok(Err(refused)),
            }
            let text = serde_json::to_string(&record.limits)?;
            let statement = "UPDATE keys SET limits = ?2 WHERE id = ?1";
            transaction.prepare_cached(statement)?.execute([&id, &text])?;
            Ok(Ok(record))
        })
        .await
    }

    /// For good. One that is revoked already stays as it is.
    pub async fn revoke_key(&self, id: &str) -> Result<KeyRecord> {
        let id = id.to_owned();
        self.write(move |transaction| {
            let statement = "UPDATE keys SET revoked_at = coalesce(revoked_at, ?2) WHERE id = ?1";
            transaction.prepare_cached(statement)?.execute(params![id, now_seconds()])?;
            by_id(transaction, &id)
        })
        .await
    }

    /// Lazily: to the minute.
    pub async fn note_key_use(&self, id: &str) -> Result<()> {
        let id = id.to_owned();
        self.write(move |transaction| {
            let now = now_seconds();
            let statement = "UPDATE keys SET last_used_at = ?2
                             WHERE id = ?1 AND (last_used_at IS NULL OR last_used_at <= ?3)";
            let due = now.saturating_sub(USE_STEP);
            transaction.prepare_cached(statement)?.execute(params![id, now, due])?;
            Ok(())
        })
        .await
    }
}

fn has_keys(transaction: &Transaction<'_>) -> Result<bool> {
    first(transaction, "SELECT EXISTS (SELECT 1 FROM keys)", [], |row| Ok(row.get(0)?))
}

fn by_id(transaction: &Transaction<'_>, id: &str) -> Result<KeyRecord> {
    first(transaction, &format!("SELECT {COLUMNS} FROM keys WHERE id = ?1"), [id], read_key)
}

fn insert(transaction: &Transaction<'_>, record: &KeyRecord) -> Result<()> {
    let text = "INSERT INTO keys (id, name, hash, shown, owner, created_at, expires_at, limits)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    transaction.prepare_cached(text)?.execute(params![
        record.id,
        record.name,
        &record.hash[..],
        record.shown,
        record.owner.as_str(),
        record.created_at,
        record.expires_at.map(signed),
        serde_json::to_string(&record.limits)?
    ])?;
    Ok(())
}

fn read_key(row: &Row<'_>) -> Result<KeyRecord> {
    let limits: String = row.get(9)?;
    Ok(KeyRecord {
        id: row.get(0)?,
        name: row.get(1)?,
        hash: row.get(2)?,
        shown: row.get(3)?,
        owner: Owner::from_stored(row.get(4)?),
        created_at: row.get(5)?,
        expires_at: row.get(6)?,
        revoked_at: row.get(7)?,
        last_used_at: row.get(8)?,
        limits: serde_json::from_str(&limits)?,
    })
}

#[cfg(test)]
#[path = "keys_tests.rs"]
mod tests;

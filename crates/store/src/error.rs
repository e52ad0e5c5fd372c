//! Everything that can go wrong between asking the store and getting an answer.

use std::io;

pub type Result<T, E = StoreError> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Not there, or another owner's: the two look the same from outside.
    #[error("there is no such entry")]
    NotFound,
    #[error("there is an entry with this id already")]
    Exists,
    #[error("the file is larger than the limit of {limit} bytes")]
    FileTooLarge { limit: u64 },
    /// Whoever sent a file stopped or failed; nothing of it is kept.
    #[error("the content of the file could not be read: {0}")]
    Content(#[source] io::Error),
    #[error(
        "the database is of version {found}, and this program knows versions up to {known}: \
         use the newer program that wrote it, or another home"
    )]
    Newer { found: u32, known: u32 },
    #[error("the database failed: {0}")]
    Sqlite(#[from] rusqlite::Error),
    #[error("a stored entry is not the JSON it should be: {0}")]
    Json(#[from] serde_json::Error),
    #[error("the store's folder failed: {0}")]
    Io(#[from] io::Error),
    #[error("the search took too long; look for less at once")]
    TooSlow,
    /// A fault of this program; what the call had changed was taken back.
    #[error("the store failed in the middle of a call")]
    Panicked,
    #[error("the store is closed")]
    Closed,
}

/// None when there is no such entry.
pub fn if_there<T>(found: Result<T>) -> Result<Option<T>> {
    match found {
        Ok(entry) => Ok(Some(entry)),
        Err(StoreError::NotFound) => Ok(None),
        Err(error) => Err(error),
    }
}

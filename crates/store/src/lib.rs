//! What must survive a crash: responses and their items, conversations, files, keys, the records of
//! containers and leases, and the ledger. One SQLite database per home, and one folder for the contents of files.

#![forbid(unsafe_code)]

mod container_files;
mod containers;
mod conversations;
mod error;
mod events;
mod files;
mod files_folder;
mod items;
mod keys;
mod leases;
mod ledger;
mod ledger_search;
mod migrations;
mod open;
mod pages;
mod passed_responses;
mod responses;
mod thread;

#[cfg(test)]
mod testing;

pub use container_files::ContainerFileRecord;
pub use conversations::ConversationRecord;
pub use error::{Result, StoreError, if_there};
pub use files::{FileRecord, StagedFile};
pub use items::ItemRecord;
pub use keys::{KEY_PREFIX, KeyFound, KeyHash, KeyRecord, NewKey, hash_key};
pub use ledger::{KINDS, LOST, LedgerRecord, RUNNING};
pub use ledger_search::{LedgerFilter, LedgerPlace, LedgerTree};
pub use open::Store;
pub use pages::{Listed, Page};
pub use passed_responses::PassedTo;
pub use responses::ResponseRecord;

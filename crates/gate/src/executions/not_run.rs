//! Why code did not run.

use sandgate_core::BackendError;
use sandgate_store::StoreError;

use crate::approvals::Denial;

/// Nothing ran, and nothing will.
#[derive(Debug, thiserror::Error)]
pub enum NotRun {
    /// Somebody who may say no did.
    #[error(transparent)]
    Denied(#[from] Denial),
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// What runs must be on record first.
    #[error("the record of the execution could not be written: {0}")]
    Store(#[from] StoreError),
}

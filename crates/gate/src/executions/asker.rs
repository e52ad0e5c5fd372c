//! In whose name code runs.

use std::sync::Arc;

use sandgate_core::{KeyLimits, Owner, Principal, Rank};

use tokio_util::sync::CancellationToken;

use crate::ledger::Call;
use crate::metrics::Watch;

/// Who wants code to run, and through which door it came.
#[derive(Clone, Debug)]
pub struct Asker {
    pub owner: Owner,
    /// The id of the key; None for the master key, and on a server without keys.
    pub key: Option<String>,
    /// What that key may have.
    pub limits: Arc<KeyLimits>,
    /// The `x-request-id` of the client's request.
    pub request_id: String,
    /// The API that was asked: `responses`, `chat`, `execute`, …
    pub door: &'static str,
    /// The model that wrote the code, as the client calls it.
    pub model: Option<String>,
    /// The record of the whole request.
    pub call: Call,
    /// Of the whole request: times and spans.
    pub watch: Watch,
    /// Cancelled when nobody waits for the answer any more, where dropping the work does not say so.
    pub left: CancellationToken,
}

impl Asker {
    #[must_use]
    pub fn new(who: &Principal, request_id: String, door: &'static str) -> Self {
        let key = match &who.rank {
            Rank::Key(id) => Some(id.clone()),
            Rank::Open | Rank::Nobody | Rank::Master => None,
        };
        let (owner, limits) = (who.owner.clone(), Arc::clone(&who.limits));
        Self {
            owner,
            key,
            limits,
            request_id,
            door,
            model: None,
            call: Call::default(),
            watch: Watch::default(),
            left: CancellationToken::new(),
        }
    }
}

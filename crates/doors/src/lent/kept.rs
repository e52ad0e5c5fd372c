//! A copy of a sandbox that is kept to make others from: a container that never runs, with nobody's time on it.

use std::collections::BTreeMap;
use std::sync::Arc;

use sandgate_core::{Lease, LeaseError, LeaseState, Leases, NewContainer, NewLease, OnEnd, Principal};
use serde_json::Value;

/// What a door says of one.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) id: String,
    /// The name of such copies among the leases.
    pub(crate) door: &'static str,
    /// For the operator's eyes.
    pub(crate) title: String,
    pub(crate) details: Value,
}

/// Files and variables of `of`; neither memory nor processes.
pub(crate) async fn keep(
    leases: &Leases,
    who: Principal,
    of: &Lease,
    kept: Kept,
) -> Result<Arc<Lease>, LeaseError> {
    let Kept { id, door, title, details } = kept;
    let container = NewContainer {
        owner: who.owner,
        name: Some(title),
        spec: leases.container(of)?.spec().clone(),
        unlisted: true,
        allowance: who.limits,
        ..NewContainer::default()
    };
    let new = NewLease {
        id,
        door,
        metadata: BTreeMap::new(),
        lasts_ms: None,
        on_end: OnEnd::Delete,
        wakes: false,
        ends_paused: false,
        details,
        container,
    };
    leases.grant_copy(new, of, LeaseState::Paused).await
}

//! Containers changed by hand: paused, resumed, deleted. One that a door has lent is changed through its lease, so
//! that whoever borrowed it sees the same.

use axum::extract::{Path, State};
use axum::response::Redirect;
use sandgate_core::{Lease, LeaseError, now_ms};

use super::{PATH, Which, link};
use crate::Console;
use crate::fields::{Asked, Fields};
use crate::problem::Problem;
use crate::visitor::Visitor;

/// The least that a lease lasts on when it is resumed here; its door may give it more.
const RESUMED_FOR_MS: u64 = 5 * 60 * 1000;
/// In an address: the page of the container asked, and not the list.
const FROM_ITS_PAGE: (&str, &str) = ("from", "one");

/// Where a form that does this to a container goes.
pub(super) fn path(what: &str, id: &str, is_its_page: bool) -> String {
    let mut fields = vec![("id", id)];
    if is_its_page {
        fields.push(FROM_ITS_PAGE);
    }
    Fields::default().link(&format!("/console/containers/change/{what}"), &[], &fields)
}

pub(super) async fn change(
    State(console): State<Console>,
    visitor: Visitor,
    Which(container): Which,
    Path(what): Path<String>,
    Asked(asked): Asked,
) -> Result<Redirect, Problem> {
    let parts = console.parts();
    match (what.as_str(), parts.leases.lent(container.id())) {
        ("pause", None) => container.pause().await?,
        ("pause", Some(lease)) => drop(parts.leases.pause(&lease.id).await?),
        ("resume", None) => container.resume().await?,
        ("resume", Some(lease)) => {
            let limits = &visitor.principal.limits;
            parts.leases.resume(&lease.id, end_of(&lease), limits).await?;
        }
        ("delete", None) => parts.containers.delete(container.owner(), container.id()).await?,
        ("delete", Some(lease)) => parts.leases.delete(&lease.id).await?,
        _ => return Err(Problem::NotFound),
    }
    tracing::info!(container = %container.id(), by = visitor.name(), change = what, "a container was changed by hand");
    let is_there = what != "delete" && asked.get(FROM_ITS_PAGE.0) == Some(FROM_ITS_PAGE.1);
    Ok(Redirect::to(&if is_there { link(container.id().as_str()) } else { PATH.to_owned() }))
}

/// One whose time is over would be ended at once.
fn end_of(lease: &Lease) -> Option<u64> {
    lease.ends_ms.map(|end| end.max(now_ms().saturating_add(RESUMED_FOR_MS)))
}

impl From<LeaseError> for Problem {
    fn from(error: LeaseError) -> Self {
        match error {
            LeaseError::NotFound => Self::NotFound,
            LeaseError::Backend(error) => error.into(),
            LeaseError::Paused | LeaseError::Running => Self::Conflict(format!("This is too late: {error}.")),
            LeaseError::Registry(_) => {
                tracing::error!(%error, "the console could not change a lease");
                Self::Internal
            }
        }
    }
}

#[cfg(test)]
#[path = "change_tests.rs"]
mod tests;

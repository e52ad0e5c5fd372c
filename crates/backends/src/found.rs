//! Sandboxes in a provider's lists.

use std::collections::BTreeMap;

use crate::{Found, ProviderError};

/// Of a list; more than any account has sandboxes.
pub(crate) const MOST_PAGES: usize = 200;

/// Those that carry every pair: what a server does not filter, or filters wrongly, is not ours.
pub(crate) fn carrying(mut all: Vec<Found>, metadata: &BTreeMap<String, String>) -> Vec<Found> {
    all.retain(|found| metadata.iter().all(|(name, value)| found.metadata.get(name) == Some(value)));
    all
}

pub(crate) fn endless() -> ProviderError {
    ProviderError::Garbage(format!("a list of more than {MOST_PAGES} pages"))
}

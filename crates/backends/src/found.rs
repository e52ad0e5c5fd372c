//! Sandboxes in a provider's lists.

use std::collections::BTreeMap;

use crate::{Found, ProviderError, ProviderResult};

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

/// An entry of a list, unless it makes no sense: that keeps nobody from finding the others.
pub(crate) fn understood(entry: ProviderResult<Option<Found>>) -> Option<Found> {
    entry.unwrap_or_else(|error| {
        tracing::warn!(%error, "an entry in a provider's list of sandboxes is passed over");
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_that_makes_no_sense_is_passed_over() {
        assert_eq!(understood(Err(ProviderError::Garbage("an id".to_owned()))), None);
    }
}

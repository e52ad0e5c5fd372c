//! Whom a turn was asked of, as it turned out: which upstream, and under which name for the model.

use std::sync::{Arc, Mutex, PoisonError};

/// Clones share what they say.
#[derive(Clone, Debug, Default)]
pub struct Asked(Arc<Mutex<Inner>>);

#[derive(Clone, Debug, Default)]
struct Inner {
    upstream: Option<String>,
    model: Option<String>,
}

impl Asked {
    /// The last one that was asked counts: others could not be reached.
    pub(super) fn note(&self, upstream: &str, model: Option<&str>) {
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *inner = Inner { upstream: Some(upstream.to_owned()), model: model.map(ToOwned::to_owned) };
    }

    /// The upstream's name and the model's name there.
    pub(crate) fn get(&self) -> (Option<String>, Option<String>) {
        let inner = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        (inner.upstream, inner.model)
    }
}

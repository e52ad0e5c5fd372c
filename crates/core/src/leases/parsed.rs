//! The door's own part of a lease in the door's own form, read once.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, OnceLock};

use super::Lease;

/// Not part of what a lease says: a copy, which may be changed, begins without it.
#[derive(Default)]
pub struct Parsed(OnceLock<Arc<dyn Any + Send + Sync>>);

impl Clone for Parsed {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl PartialEq for Parsed {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl fmt::Debug for Parsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parsed").finish_non_exhaustive()
    }
}

impl Lease {
    /// What `parse` makes of it, the first time it is asked for.
    pub fn parsed<T: Any + Send + Sync>(&self, parse: impl Fn(&Self) -> T) -> Arc<T> {
        let kept = Arc::clone(self.parsed.0.get_or_init(|| Arc::new(parse(self))));
        // Whoever asks for another form than the first one did reads it anew.
        kept.downcast().unwrap_or_else(|_| Arc::new(parse(self)))
    }
}

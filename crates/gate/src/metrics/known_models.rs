//! Which names of models may become a label. Clients choose names freely, so only those that are configured
//! or that an upstream has answered to count, and never more than so many: the rest is `other`.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

const MOST: usize = 100;
const LONGEST: usize = 100;
const OTHER: Cow<'static, str> = Cow::Borrowed("other");

#[derive(Debug, Default)]
pub(super) struct KnownModels(Mutex<HashSet<String>>);

impl KnownModels {
    fn lock(&self) -> MutexGuard<'_, HashSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on a label of its own, if there is room for it.
    pub(super) fn add(&self, name: &str) {
        let mut names = self.lock();
        let is_plain = !name.is_empty() && name.len() <= LONGEST && !name.contains(char::is_control);
        if is_plain && names.len() < MOST && !names.contains(name) {
            names.insert(name.to_owned());
        }
    }

    pub(super) fn label(&self, name: &str) -> Cow<'static, str> {
        if self.lock().contains(name) { Cow::Owned(name.to_owned()) } else { OTHER }
    }
}

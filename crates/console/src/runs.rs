//! Code that a page started and may want to stop.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use sandgate_core::{ExecutionHandle, random_hex};

type Handles = Arc<Mutex<HashMap<String, ExecutionHandle>>>;

#[derive(Debug, Default)]
pub(crate) struct Runs(Handles);

/// While it lives, the run can be stopped by its id.
#[derive(Debug)]
pub(crate) struct Stoppable {
    pub(crate) id: String,
    all: Handles,
}

impl Runs {
    pub(crate) fn add(&self, handle: ExecutionHandle) -> Stoppable {
        let stoppable = Stoppable { id: random_hex(16), all: Arc::clone(&self.0) };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(stoppable.id.clone(), handle);
        stoppable
    }

    /// Whether there was such a run. As Ctrl-C does; once more, and it is killed.
    pub(crate) fn stop(&self, id: &str) -> bool {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(id).map(ExecutionHandle::interrupt).is_some()
    }
}

impl Drop for Stoppable {
    fn drop(&mut self) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }
}

//! Which contexts run something now: no second thing may begin in them, and the first can be stopped.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use sandgate_core::{ContextId, ExecutionHandle};

use super::super::place::lock;

/// None: what runs has not begun yet.
type Busy = Mutex<HashMap<ContextId, Option<ExecutionHandle>>>;

#[derive(Debug, Default)]
pub(in super::super) struct Runs(Arc<Busy>);

impl Runs {
    /// The context for oneself, until the claim is dropped. None: something runs in it.
    pub(super) fn claim(&self, context: &ContextId) -> Option<Claim> {
        let mut busy = lock(&self.0);
        if busy.contains_key(context) {
            return None;
        }
        busy.insert(context.clone(), None);
        Some(Claim { busy: Arc::clone(&self.0), context: context.clone() })
    }

    /// Whether something ran there.
    pub(super) fn interrupt(&self, context: &ContextId) -> bool {
        match lock(&self.0).get(context) {
            Some(Some(handle)) => {
                handle.interrupt();
                true
            }
            Some(None) | None => false,
        }
    }
}

#[derive(Debug)]
pub(super) struct Claim {
    busy: Arc<Busy>,
    context: ContextId,
}

impl Claim {
    pub(super) fn begun(&self, handle: ExecutionHandle) {
        lock(&self.busy).insert(self.context.clone(), Some(handle));
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        lock(&self.busy).remove(&self.context);
    }
}

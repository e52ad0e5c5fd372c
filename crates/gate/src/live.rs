//! A value that can be exchanged while it is in use: whoever holds the old one keeps it to the end.

use std::sync::{Arc, PoisonError, RwLock};

#[derive(Debug, Default)]
pub(crate) struct Live<T>(RwLock<Arc<T>>);

impl<T> Live<T> {
    pub(crate) fn new(value: impl Into<Arc<T>>) -> Self {
        Self(RwLock::new(value.into()))
    }

    pub(crate) fn get(&self) -> Arc<T> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn replace(&self, value: impl Into<Arc<T>>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = value.into();
    }
}

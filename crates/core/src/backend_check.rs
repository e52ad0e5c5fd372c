//! How the backends of a server are: whoever has several tells by really running code on each.

use std::fmt::Debug;
use std::time::Duration;

use async_trait::async_trait;

/// How a real execution on one backend went.
#[derive(Clone, Debug, PartialEq)]
pub struct BackendCheck {
    pub name: String,
    /// `embedded`, or the kind of provider.
    pub kind: &'static str,
    /// Where code runs for which nobody names a backend.
    pub is_default: bool,
    pub took: Duration,
    /// In words; None: it is well.
    pub problem: Option<String>,
}

#[async_trait]
pub trait CheckBackends: Send + Sync + Debug {
    /// Each in a sandbox made for it, of which nothing is left.
    async fn check_all(&self) -> Vec<BackendCheck>;
}

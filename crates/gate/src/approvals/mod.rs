//! Whether code may run: asked of rules, then of a webhook, then of a person, before anything starts.

mod question;

use std::sync::Arc;

pub use question::{DecidedBy, Denial, Permission, Question, Verdict};

/// Cheap to clone; clones decide by the same policy.
#[derive(Clone, Debug)]
pub struct Approvals(Arc<Inner>);

#[derive(Debug)]
struct Inner {}

impl Approvals {
    /// Nothing is asked, and all code runs.
    #[must_use]
    pub fn none() -> Self {
        Self(Arc::new(Inner {}))
    }

    /// Returns once somebody has decided. Dropping the future takes the question back.
    #[expect(clippy::unused_async, reason = "a webhook and a person are waited for")]
    pub async fn decide(&self, _question: &Question<'_>) -> Verdict {
        let _ = &self.0;
        Verdict::Allowed(Permission { by: DecidedBy::Nobody, reason: None })
    }
}

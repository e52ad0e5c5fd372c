//! Cells and sandboxes through the traits, timed.

use std::sync::Arc;
use std::time::Instant;

use anyhow::{Result, ensure};
use sandgate_core::{Backend, ExecuteRequest, Outcome, Sandbox, SandboxSpec};

use super::{FIRST_CELL, WARM_CELL};

/// Runs `code`, whose value must be `expected`; gives milliseconds until the last event.
pub(super) async fn cell(sandbox: &dyn Sandbox, code: &str, expected: &str) -> Result<f64> {
    let begun = Instant::now();
    let request = ExecuteRequest { code: code.to_owned(), ..ExecuteRequest::default() };
    let outcome = Outcome::collect(sandbox.execute(request).await?).await?;
    let took = milliseconds(begun);
    let value = outcome.results.last().and_then(|result| result.data.get("text/plain")?.as_str());
    ensure!(value == Some(expected), "a sandbox answered {value:?} instead of {expected}: {outcome:?}");
    Ok(took)
}

/// A cell on a kernel that has run others.
pub(super) async fn warm_cell(sandbox: &dyn Sandbox) -> Result<f64> {
    cell(sandbox, WARM_CELL, "42").await
}

/// A new sandbox that has run its first cell, which imports the stack.
pub(super) struct Created {
    pub(super) sandbox: Arc<dyn Sandbox>,
    /// The call of create alone.
    pub(super) create_ms: f64,
    /// From the call of create to the end of the first cell.
    pub(super) first_ms: f64,
}

pub(super) async fn create(engine: &dyn Backend) -> Result<Created> {
    let begun = Instant::now();
    let sandbox = engine.create(SandboxSpec::default()).await?;
    let create_ms = milliseconds(begun);
    cell(sandbox.as_ref(), FIRST_CELL, "42").await?;
    Ok(Created { sandbox, create_ms, first_ms: milliseconds(begun) })
}

pub(super) fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1000.0
}

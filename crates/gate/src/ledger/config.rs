//! What the ledger writes down, and for how long.

use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerConfig {
    pub enabled: bool,
    /// Requests that are only passed on to the upstream are written down too.
    pub passed: bool,
    /// Records of executions hold the code and its output, unless the key says otherwise.
    pub code: bool,
    /// Connections of sandboxes are written down, each one.
    pub connections: bool,
    /// How long records are kept; None: for good.
    pub keep: Option<Duration>,
}

impl Default for LedgerConfig {
    fn default() -> Self {
        let keep = Some(Duration::from_secs(30 * 24 * 60 * 60));
        Self { enabled: true, passed: true, code: false, connections: false, keep }
    }
}

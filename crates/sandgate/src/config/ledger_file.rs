//! What the configuration says of the ledger.

use std::time::Duration;

use sandgate_gate::LedgerConfig;
use schemars::JsonSchema;
use serde::Deserialize;

use super::file::DAY;

/// The ledger: a record of each request, each turn of a model, each execution and each approval.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct LedgerFile {
    /// Whether anything is written down.
    pub(crate) enabled: bool,
    /// Whether requests that are only passed on to an upstream are written down too.
    pub(crate) passed: bool,
    /// Whether records hold the code and its output. `log_code` of a key goes before it.
    pub(crate) code: bool,
    /// Whether each connection of a sandbox is written down: name, address, bytes, and whether it was allowed.
    pub(crate) connections: bool,
    /// Days that records are kept.
    #[schemars(range(min = 1))]
    pub(crate) keep_days: u64,
}

impl Default for LedgerFile {
    fn default() -> Self {
        let LedgerConfig { enabled, passed, code, connections, keep } = LedgerConfig::default();
        Self { enabled, passed, code, connections, keep_days: keep.unwrap_or_default().as_secs() / DAY }
    }
}

impl LedgerFile {
    pub(super) fn settings(&self) -> LedgerConfig {
        LedgerConfig {
            enabled: self.enabled,
            passed: self.passed,
            code: self.code,
            connections: self.connections,
            keep: Some(Duration::from_secs(self.keep_days.saturating_mul(DAY))),
        }
    }
}

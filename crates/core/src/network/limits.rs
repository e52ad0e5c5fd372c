//! How much network one sandbox may use.

use serde::{Deserialize, Serialize};

/// Bounds of one sandbox. The egress keeps them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NetworkLimits {
    /// Connections at once; the next is refused.
    pub connections: u32,
    /// New connections, also such as are refused; twice as many may come at once after a pause.
    pub connections_per_second: u32,
    /// Bytes in both directions together, per second; None: as fast as it goes. More is slowed down.
    pub bytes_per_second: Option<u64>,
    /// Bytes in both directions together, as long as the sandbox lives; None: no bound. Then all connections end.
    pub bytes: Option<u64>,
}

impl Default for NetworkLimits {
    fn default() -> Self {
        Self { connections: 128, connections_per_second: 200, bytes_per_second: None, bytes: None }
    }
}

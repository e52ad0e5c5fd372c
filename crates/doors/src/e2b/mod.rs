//! The door that speaks E2B's API, so that its unmodified SDKs run here: the control plane that makes, finds and
//! ends sandboxes (`control`), and the data plane into each of them: envd for files and commands (`envd`), the
//! code interpreter (`code`), and whatever else listens on a port inside (`ports`).

mod code;
mod control;
mod details;
mod envd;
mod error;
mod front;
mod host;
mod ports;
mod route;
mod tokens;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use sandgate_core::{Containers, Leases, SandboxSpec};
use sandgate_store::Store;
use tokio_util::task::TaskTracker;

pub(crate) use front::{Front, is_ours};

use crate::lent::Runs;
use control::State;
use error::E2bResult;

/// The name of this door in leases.
pub(crate) const DOOR: &str = "e2b";
/// On the one port, everything of this door lies below this path.
pub const PREFIX: &str = "/e2b";
/// Where the SDKs look for files and commands.
const ENVD_PORT: u16 = 49983;
/// Where they look for the code interpreter.
const CODE_PORT: u16 = 49999;
/// The version of envd whose features are all here.
const ENVD_VERSION: &str = "0.6.13";
/// Where a sandbox of E2B works.
const HOME: &str = "/home/user";

#[derive(Debug)]
pub struct E2bDoor {
    pub leases: Arc<Leases>,
    pub containers: Arc<Containers>,
    pub store: Store,
    /// What a sandbox may use.
    pub spec: SandboxSpec,
    /// What must not stop half-way goes on here when the client hangs up meanwhile.
    pub tasks: TaskTracker,
    /// How code and commands run.
    pub runs: Runs,
    pub settings: E2bSettings,
    pub state: DoorState,
}

/// What the door remembers while it is open.
#[derive(Debug, Default)]
pub struct DoorState(State);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct E2bSettings {
    /// As in `E2B_DOMAIN`, perhaps with a port. None: there is the path on the one port only.
    pub domain: Option<String>,
    /// Templates beside those that the SDKs ask for by themselves; each is the one runtime there is.
    pub templates: BTreeSet<String>,
    /// The longest that a sandbox may be asked to last.
    pub max_timeout: Duration,
    /// Ports other than envd's need no token, unless the sandbox was made with `allowPublicTraffic: false`.
    pub open_ports: bool,
}

impl Default for E2bSettings {
    fn default() -> Self {
        Self {
            domain: None,
            templates: BTreeSet::new(),
            max_timeout: Duration::from_secs(24 * 60 * 60),
            open_ports: false,
        }
    }
}

type Door = Arc<E2bDoor>;

impl E2bDoor {
    /// Work that goes on to its end even when the client hangs up; what it gives is dropped then.
    async fn to_the_end<T: Send + 'static>(
        &self,
        work: impl Future<Output = E2bResult<T>> + Send + 'static,
    ) -> E2bResult<T> {
        crate::lent::to_the_end(&self.tasks, work).await
    }
}

#[cfg(test)]
mod test_client;

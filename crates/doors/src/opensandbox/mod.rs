//! The door that speaks OpenSandbox's API, so that its unmodified SDKs run here: the lifecycle API that makes,
//! finds and ends sandboxes (`lifecycle`), and the ways into each of them, all below `/sandboxes/ID/proxy/PORT`
//! (`proxy`): what stands for its agent execd (`execd`), for its egress sidecar (`egress`), and whatever else
//! listens on a port inside.

mod details;
mod egress;
mod entry;
mod error;
mod execd;
mod front;
mod lifecycle;
mod proxy;
mod target;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use sandgate_core::{Containers, Leases, SandboxSpec};
use sandgate_store::Store;
use tokio_util::task::TaskTracker;

pub(crate) use front::{Front, is_ours};

use crate::lent::carry::Tunnels;
use crate::lent::{Runs, Turns};
use crate::patience::BodyPatience;
use entry::Entries;
use error::Answered;

/// The name of this door in leases.
pub(crate) const DOOR: &str = "opensandbox";
/// The version of OpenSandbox's server whose API this is.
const VERSION: &str = "1.1.1";
/// Where the SDKs look for files, commands and code.
const EXECD_PORT: u16 = 44772;
/// Where they look for the network's rules.
const EGRESS_PORT: u16 = 18080;
/// Where a sandbox works.
const HOME: &str = "/home/user";

#[derive(Debug)]
pub struct OpenSandboxDoor {
    pub leases: Arc<Leases>,
    pub containers: Arc<Containers>,
    pub store: Store,
    /// What a sandbox may use, unless its maker asks for another size.
    pub spec: SandboxSpec,
    /// What must not stop half-way goes on here when the client hangs up meanwhile.
    pub tasks: TaskTracker,
    /// How code and commands run.
    pub runs: Runs,
    pub settings: OpenSandboxSettings,
    pub state: DoorState,
}

/// What the door remembers while it is open.
#[derive(Debug, Default)]
pub struct DoorState {
    tunnels: Tunnels,
    entries: Entries,
    /// Changes of a sandbox's network go one after the other.
    rules: Turns,
    /// With bodies of requests that go inside.
    patience: BodyPatience,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenSandboxSettings {
    /// Names of images beside those that are always known; each is the runtime of this server.
    pub images: BTreeSet<String>,
    /// The longest that a sandbox may be asked to last.
    pub max_timeout: Duration,
    /// The most memory that a sandbox may be asked to have.
    pub max_memory: u64,
    /// The same for thousandths of a processor.
    pub max_cpu_millis: u32,
}

impl Default for OpenSandboxSettings {
    fn default() -> Self {
        Self {
            images: BTreeSet::new(),
            max_timeout: Duration::from_secs(24 * 60 * 60),
            max_memory: 4 << 30,
            max_cpu_millis: 4000,
        }
    }
}

type Door = Arc<OpenSandboxDoor>;

impl OpenSandboxDoor {
    /// Work that goes on to its end even when the client hangs up; what it gives is dropped then.
    async fn to_the_end<T: Send + 'static>(
        &self,
        work: impl Future<Output = Answered<T>> + Send + 'static,
    ) -> Answered<T> {
        crate::lent::to_the_end(&self.tasks, work).await
    }
}

#[cfg(test)]
mod test_client;

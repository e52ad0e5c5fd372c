//! Sandboxes that others run, behind the same traits as the embedded engine. A [`Provider`] speaks one
//! protocol and nothing else; what its protocol lacks is made up for above it, once for all of them.

#![forbid(unsafe_code)]

mod capabilities;
mod cleanup;
pub mod daytona;
pub mod e2b;
mod entries;
mod error;
mod fleet;
mod found;
mod http;
pub mod opensandbox;
mod provider;
mod remote;
mod settings;
mod stopped;
mod table;
mod under_way;

pub use capabilities::{Capabilities, Interpreter, NetworkControl};
pub use error::{ProviderError, ProviderResult};
pub use fleet::{EMBEDDED, Fleet, FleetCheck};
pub use provider::{
    Content, ContextWish, Found, Furnished, Gathered, NetworkWish, Place, PlaceEntry, PlaceId, PlaceState,
    Provider, Run, RunEnd, Running, Said, Wish,
};
pub use remote::{BreakerConfig, Records, RemoteBackend, RemoteConfig};
pub use settings::{DaytonaSettings, Deadlines, E2bSettings, OpenSandboxSettings, Reach};
pub use table::capability_table;

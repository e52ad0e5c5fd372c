//! The only way out of a sandbox. Its network namespace has no route; the engine opens a few sockets inside it and
//! hands them over, and what connects to them is served here, in the host's namespace, under the sandbox's policy.

#![forbid(unsafe_code)]

mod attached;
mod config;
mod egress;
mod live;
mod observer;

pub use attached::{Attached, InsideSockets};
pub use config::{EgressConfig, EgressError, Resolution};
pub use egress::Egress;
pub use live::LivePolicy;
pub use observer::{Observer, Seen, SeenVerdict, Unobserved, Way};

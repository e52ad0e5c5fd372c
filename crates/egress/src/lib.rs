//! The only way out of a sandbox. Its network namespace has no route; the engine opens a few sockets inside it and
//! hands them over, and what connects to them is served here, in the host's namespace, under the sandbox's policy.

#![forbid(unsafe_code)]

mod attached;
mod buffers;
mod config;
mod crowd;
mod denied;
mod dial;
mod dns;
mod egress;
mod first;
mod greetings;
mod hello;
mod http;
mod keepalive;
mod live;
mod meter;
mod metered;
mod near;
mod observer;
mod pipes;
mod race;
mod rate;
mod registries;
mod relay;
mod request_line;
mod resolve;
mod sandbox;
mod secrets;
mod socks;
mod tls;
mod transparent;
mod tunnel;
mod urgent;
mod watch;

pub use attached::{Attached, InsideSockets};
pub use config::{EgressConfig, EgressError, Resolution};
pub use egress::Egress;
pub use live::LivePolicy;
pub use observer::{Observer, Seen, SeenVerdict, Unobserved, Way};
pub use registries::{RegistriesConfig, check_registry, discover, registry_env};

/// What reads bytes that hostile code has written, for fuzzing.
pub mod parsers {
    pub use crate::dns::{Question, parse_answer, parse_question};
    pub use crate::hello::{Hello, read_hello};
    pub use crate::http::split;
    pub use crate::socks::{Read, Request, read_greeting, read_request};
}

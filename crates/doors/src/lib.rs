//! The protocols clients speak. A door is one folder: HTTP in, HTTP out, errors in that protocol's
//! own shape; what it knows of running code is `sandgate_core`, never a backend.

#![forbid(unsafe_code)]

mod access;
pub mod admin;
mod browsers;
mod cross_site;
mod disposition;
pub mod e2b;
pub mod execute;
mod front;
mod known_paths;
mod lent;
mod local;
mod metrics;
pub mod openai;
pub mod opensandbox;
mod owner;
mod paced;
mod patience;
mod range;
mod recorded;
mod request_id;
mod server;
mod stalled;
mod stopping;
#[cfg(test)]
mod test_http;
mod tls;
mod unheard;

pub use access::Access;
pub use disposition::disposition;
pub use front::Front;
pub use lent::Runs;
pub use local::is_of_this_machine;
pub use metrics::MetricsDoor;
pub use request_id::RequestId;
pub use server::{Doors, serve};
pub use stopping::Stopping;
pub use tls::{OverTls, Tls, TlsError};

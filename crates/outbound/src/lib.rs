//! How the server connects to others, whatever it says to them then: upstreams, hooks, sandboxes elsewhere.

#![forbid(unsafe_code)]

mod connector;
mod names;
mod trust;

pub use connector::{Connector, Stream, connector, connector_with};
pub use names::Names;
pub use trust::{InvalidCertificates, Trust};

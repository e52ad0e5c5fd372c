//! The outside, for tests of what sandboxes may reach: a name server that lies as told and web servers with real TLS,
//! on loopback addresses.

mod authority;
mod dns;
mod origin;

pub use authority::TestAuthority;
pub use dns::LyingDns;
pub use origin::{Asked, Origin};

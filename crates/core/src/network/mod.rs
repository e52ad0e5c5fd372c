//! What a sandbox may reach outside: one policy that every door maps its own words to, the operator's ceiling over
//! it, and the addresses that nobody may reach. Deciding is done here; connecting is done by the egress.

mod addresses;
mod ceiling;
mod cidr;
mod limits;
mod name;
mod policy;
mod ports;
mod reserved;
mod secrets;
mod target;
mod words;

pub use addresses::{AddressGuard, DeniedAddress, inner_addresses};
pub use ceiling::{NetworkCeiling, OutsideCeiling};
pub use cidr::{Cidr, parse_address};
pub use limits::NetworkLimits;
pub use name::{HostName, HostPattern};
pub use policy::{Action, Destination, MOST_SECRETS, NetworkPolicy, REGISTRIES, Rule, Verdict};
pub use ports::{PortRange, Ports};
pub use secrets::{DomainSecret, LONGEST_SECRET, SecretDomain};
pub use target::{InvalidTarget, Target};
pub use words::word_meant;

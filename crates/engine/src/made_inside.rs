//! Which sockets and routes a policy needs inside a sandbox, and which of them are there.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use sandgate_core::network::{Action, Cidr, NetworkPolicy};
use sandgate_jail::openings::{Opening, everywhere};

pub(crate) const HTTP_PROXY: u16 = 3128;
pub(crate) const SOCKS: u16 = 1080;
pub(crate) const DNS: u16 = 53;
/// Where programs that know of no proxy find what they look for.
const WEB: [u16; 2] = [80, 443];
/// Ports that are listened on for them. Others are reached through the proxies.
const MOST_PORTS: usize = 48;
/// Of all policies that a sandbox had: what was opened once stays.
const MOST_PORTS_EVER: usize = 256;
/// More ranges than this are one: all addresses. What is not allowed among them is refused when connected to.
const MOST_ROUTES: usize = 256;
const ALL: (Ipv4Addr, u8) = (Ipv4Addr::UNSPECIFIED, 0);

#[derive(Clone, Debug, Default)]
pub(crate) struct Made {
    ports: BTreeSet<u16>,
    routes: BTreeSet<(Ipv4Addr, u8)>,
}

impl Made {
    pub(crate) fn wanted(policy: &NetworkPolicy) -> Self {
        let allowed = || policy.rules.iter().filter(|rule| rule.action == Action::Allow);
        let mut ports = BTreeSet::from(WEB);
        for port in allowed().filter_map(|rule| rule.target.ports().few()).flatten() {
            if ports.len() < MOST_PORTS && !is_ours(port) {
                ports.insert(port);
            }
        }
        // Addresses that may be meant as they are; whoever is open to all may be sent to any.
        let mut routes: BTreeSet<_> =
            allowed().filter_map(|rule| rule.target.addresses().and_then(v4)).filter(is_outside).collect();
        if policy.default == Action::Allow {
            routes = BTreeSet::from([ALL]);
        }
        Self { ports, routes }
    }

    /// What of it is not there yet, and what is there then. An error when that would be too much.
    pub(crate) fn beside(&self, there: &Self) -> Result<(Vec<Opening>, Self), String> {
        let mut then = there.clone();
        then.ports.extend(&self.ports);
        if then.ports.len() > MOST_PORTS_EVER {
            return Err(format!(
                "the policies of this container have named more than {MOST_PORTS_EVER} ports; make a new container"
            ));
        }
        then.routes.extend(&self.routes);
        if then.routes.contains(&ALL) || then.routes.len() > MOST_ROUTES {
            then.routes = BTreeSet::from([ALL]);
        }
        let ports = then.ports.difference(&there.ports).map(|port| Opening::Tcp(everywhere(*port)));
        let routes = then.routes.difference(&there.routes);
        let routes =
            routes.map(|(network, prefix)| Opening::LocalRoute { network: *network, prefix: *prefix });
        Ok((ports.chain(routes).collect(), then))
    }
}

fn v4(range: Cidr) -> Option<(Ipv4Addr, u8)> {
    let text = range.to_string();
    let (address, bits) = text.split_once('/')?;
    Some((address.parse().ok()?, bits.parse().ok()?))
}

fn is_ours(port: u16) -> bool {
    [HTTP_PROXY, SOCKS, DNS].contains(&port)
}

/// The sandbox's own loopback is its own, whatever a rule says.
fn is_outside(route: &(Ipv4Addr, u8)) -> bool {
    !route.0.is_loopback()
}

#[cfg(test)]
#[path = "made_inside_tests.rs"]
mod tests;

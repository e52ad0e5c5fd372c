//! Made-up addresses for names: who connects to one is known to want exactly that name.

use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Mutex, PoisonError};

use sandgate_core::network::HostName;

/// 198.18.0.0/15, which is on no network: reserved for benchmarks.
const FIRST: u32 = 0xc612_0000;
const COUNT: u32 = 1 << 17;
/// Names remembered at once; the oldest go. An address comes back only after all others were given out.
const MOST_NAMES: usize = 4096;

pub(crate) fn is_synthetic(address: IpAddr) -> bool {
    matches!(address, IpAddr::V4(four) if four.to_bits() & !(COUNT - 1) == FIRST)
}

#[derive(Debug, Default)]
pub(crate) struct SyntheticNames(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    by_name: HashMap<HostName, Ipv4Addr>,
    by_address: HashMap<Ipv4Addr, HostName>,
    in_order: VecDeque<Ipv4Addr>,
    next: u32,
}

impl SyntheticNames {
    /// The address of a name: always the same, while it is remembered.
    pub(crate) fn address_of(&self, name: &HostName) -> Ipv4Addr {
        let mut table = self.lock();
        if let Some(address) = table.by_name.get(name) {
            return *address;
        }
        if table.in_order.len() >= MOST_NAMES
            && let Some(oldest) = table.in_order.pop_front()
            && let Some(forgotten) = table.by_address.remove(&oldest)
        {
            table.by_name.remove(&forgotten);
        }
        // The first and the last address look like a network's own; leave them out.
        table.next = table.next % (COUNT - 2) + 1;
        let address = Ipv4Addr::from_bits(FIRST + table.next);
        table.by_name.insert(name.clone(), address);
        table.by_address.insert(address, name.clone());
        table.in_order.push_back(address);
        address
    }

    pub(crate) fn name_of(&self, address: IpAddr) -> Option<HostName> {
        let IpAddr::V4(four) = address else { return None };
        self.lock().by_address.get(&four).cloned()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[path = "names_tests.rs"]
mod tests;

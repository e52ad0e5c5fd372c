//! Addresses that no sandbox may reach, whatever a policy says: the host's own, its network's, those that cloud
//! providers answer with credentials, and every form of IPv6 that hides one of them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::Cidr;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the address {address} is {why}, which no sandbox may reach")]
pub struct DeniedAddress {
    pub address: IpAddr,
    pub why: &'static str,
}

const PRIVATE: &str = "in a private network";

impl DeniedAddress {
    /// Whether it is of a kind that operators open on purpose, for servers of their own.
    #[must_use]
    pub fn is_private(&self) -> bool {
        self.why == PRIVATE
    }
}

/// What the operator says about addresses.
#[derive(Clone, Debug, Default)]
pub struct AddressGuard {
    /// Ranges that the operator opens although they are denied by default.
    pub allow: Vec<Cidr>,
}

impl AddressGuard {
    /// Whether an address may be connected to at all.
    pub fn check(&self, address: IpAddr) -> Result<(), DeniedAddress> {
        let address = address.to_canonical();
        if self.allow.iter().any(|range| range.contains(address)) {
            return Ok(());
        }
        match denied(address) {
            Some(why) => Err(DeniedAddress { address, why }),
            None => Ok(()),
        }
    }
}

fn denied(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(four) => denied_v4(four),
        IpAddr::V6(six) => denied_v6(six),
    }
}

const fn v4(a: u8, b: u8, c: u8, d: u8, bits: u8) -> Cidr {
    Cidr::constant(IpAddr::V4(Ipv4Addr::new(a, b, c, d)), bits)
}

/// In the order of IANA's list of special addresses.
const DENIED_V4: &[(Cidr, &str)] = &[
    (v4(0, 0, 0, 0, 8), "of 'this network'"),
    (v4(10, 0, 0, 0, 8), PRIVATE),
    (v4(100, 64, 0, 0, 10), "in a provider's inner network"),
    (v4(127, 0, 0, 0, 8), "of the host's loopback"),
    (v4(168, 63, 129, 16, 32), "a cloud provider's metadata service"),
    (v4(169, 254, 0, 0, 16), "link-local, where metadata services are"),
    (v4(172, 16, 0, 0, 12), PRIVATE),
    (v4(192, 0, 0, 0, 24), "reserved for protocols"),
    (v4(192, 0, 2, 0, 24), "reserved for documentation"),
    (v4(192, 31, 196, 0, 24), "reserved for protocols"),
    (v4(192, 52, 193, 0, 24), "reserved for protocols"),
    (v4(192, 88, 99, 0, 24), "of a relay to IPv6"),
    (v4(192, 168, 0, 0, 16), PRIVATE),
    (v4(192, 175, 48, 0, 24), "reserved for protocols"),
    (v4(198, 18, 0, 0, 15), "reserved for benchmarks"),
    (v4(198, 51, 100, 0, 24), "reserved for documentation"),
    (v4(203, 0, 113, 0, 24), "reserved for documentation"),
    (v4(224, 0, 0, 0, 4), "multicast"),
    (v4(240, 0, 0, 0, 4), "reserved or broadcast"),
];

const fn v6(head: [u16; 6], bits: u8) -> Cidr {
    let [a, b, c, d, e, f] = head;
    Cidr::constant(IpAddr::V6(Ipv6Addr::new(a, b, c, d, e, f, 0, 0)), bits)
}

const DENIED_V6: &[(Cidr, &str)] = &[
    (v6([0x100, 0, 0, 0, 0, 0], 64), "for discarding"),
    (v6([0x100, 0, 0, 1, 0, 0], 64), "reserved"),
    (v6([0x2001, 2, 0, 0, 0, 0], 48), "reserved for benchmarks"),
    (v6([0x2001, 0x10, 0, 0, 0, 0], 28), "reserved for protocols"),
    (v6([0x2001, 0x20, 0, 0, 0, 0], 28), "reserved for protocols"),
    (v6([0x2001, 0xdb8, 0, 0, 0, 0], 32), "reserved for documentation"),
    (v6([0x3fff, 0, 0, 0, 0, 0], 20), "reserved for documentation"),
    (v6([0x5f00, 0, 0, 0, 0, 0], 16), "reserved for routing"),
    (v6([0xfc00, 0, 0, 0, 0, 0], 7), PRIVATE),
    (v6([0xfe80, 0, 0, 0, 0, 0], 10), "link-local"),
    (v6([0xfec0, 0, 0, 0, 0, 0], 10), PRIVATE),
    (v6([0xff00, 0, 0, 0, 0, 0], 8), "multicast"),
];

fn find(list: &[(Cidr, &'static str)], address: IpAddr) -> Option<&'static str> {
    list.iter().find(|(range, _)| range.contains(address)).map(|(_, why)| *why)
}

fn denied_v4(address: Ipv4Addr) -> Option<&'static str> {
    find(DENIED_V4, address.into())
}

fn denied_v6(address: Ipv6Addr) -> Option<&'static str> {
    if let Some(why) = find(DENIED_V6, address.into()) {
        return Some(why);
    }
    let of_inner = || inner_addresses(address.into()).find_map(denied_v4);
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => Some("unspecified"),
        [0, 0, 0, 0, 0, 0, 0, 1] => Some("of the host's loopback"),
        // The rest of ::/8 holds IPv4 in several clothes and nothing that is routed, NAT64 of a whole network
        // among it, whose translator decides where it leads.
        [0, 0, 0, 0, 0, 0xffff, ..] | [0x64, 0xff9b, 0, 0, 0, 0, ..] => of_inner(),
        [first, ..] if first < 0x100 => Some("an old or translated form of another"),
        // Only 2000::/3 is given out as unicast.
        [first, ..] if first & 0xe000 != 0x2000 => of_inner().or(Some("not in use on the Internet")),
        _ => of_inner(),
    }
}

/// The IPv4 addresses that an IPv6 address carries: who connects to it is brought to them, or by way of them. What is
/// denied of these is denied of it.
pub fn inner_addresses(address: IpAddr) -> impl Iterator<Item = Ipv4Addr> {
    let found = match address {
        IpAddr::V4(_) => [None, None],
        IpAddr::V6(six) => inner_of(six),
    };
    found.into_iter().flatten()
}

fn inner_of(address: Ipv6Addr) -> [Option<Ipv4Addr>; 2] {
    let bits = address.to_bits();
    let four = |shift: u32| {
        #[expect(clippy::cast_possible_truncation, reason = "32 bits are wanted")]
        let word = (bits >> shift) as u32;
        Ipv4Addr::from_bits(word)
    };
    match address.segments() {
        // Mapped, and translated by NAT64.
        [0, 0, 0, 0, 0, 0xffff, ..] | [0x64, 0xff9b, 0, 0, 0, 0, ..] => [Some(four(0)), None],
        // 6to4.
        [0x2002, ..] => [Some(four(80)), None],
        // Teredo: the client's address is hidden behind a bitwise not, the server's stands open.
        [0x2001, 0, ..] => [Some(Ipv4Addr::from_bits(!four(0).to_bits())), Some(four(64))],
        // ISATAP: an IPv4 behind 0:5efe, below any prefix.
        [.., 0 | 0x200, 0x5efe, _, _] => [Some(four(0)), None],
        _ => [None, None],
    }
}

#[cfg(test)]
#[path = "addresses_tests.rs"]
mod tests;

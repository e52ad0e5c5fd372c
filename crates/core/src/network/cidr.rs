//! Ranges of addresses, in either family.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::InvalidTarget;
use super::name::shortened;

/// An address in its one canonical text: four decimal numbers without leading zeros, or IPv6 without a zone,
/// with or without brackets. Short, octal and hexadecimal forms are none. IPv4 in IPv6 clothes becomes IPv4.
#[must_use]
pub fn parse_address(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    match bare {
        Some(six) => six.parse::<Ipv6Addr>().ok().map(IpAddr::V6),
        None => text.parse::<IpAddr>().ok(),
    }
    .map(|address| address.to_canonical())
}

/// An address and how many of its leading bits count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Cidr {
    address: IpAddr,
    bits: u8,
}

impl Cidr {
    /// Bits beyond `bits` must be zero already; for constants.
    pub(super) const fn constant(address: IpAddr, bits: u8) -> Self {
        Self { address, bits }
    }

    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                masked(own.to_bits().into(), 32, self.bits) == masked(other.to_bits().into(), 32, self.bits)
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                masked(own.to_bits(), 128, self.bits) == masked(other.to_bits(), 128, self.bits)
            }
            (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
        }
    }

    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        self.bits <= other.bits && self.contains(other.address)
    }

    /// Whether it is every address of its family.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.bits == 0
    }

    /// Every address of the other family.
    pub(super) fn other_family(&self) -> Self {
        let address = match self.address {
            IpAddr::V4(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
            IpAddr::V6(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        };
        Self { address, bits: 0 }
    }
}

fn masked(bits: u128, width: u32, kept: u8) -> u128 {
    let dropped = width - u32::from(kept);
    bits.checked_shr(dropped).unwrap_or(0)
}

impl FromStr for Cidr {
    type Err = InvalidTarget;

    /// An address alone is a range of one.
    fn from_str(text: &str) -> Result<Self, InvalidTarget> {
        let wrong = |why: &'static str| InvalidTarget::Cidr { range: shortened(text), why };
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        // Not `parse_address`: the bits of a mapped form would count from elsewhere.
        let address: IpAddr =
            address.parse().map_err(|_| wrong("the address is not in its usual decimal or IPv6 form"))?;
        if address.to_canonical() != address {
            return Err(wrong("IPv4 must be written as such, not inside an IPv6 address"));
        }
        let width = if address.is_ipv4() { 32 } else { 128 };
        let bits = match bits {
            None => width,
            Some(digits)
                if (1..=3).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit()) =>
            {
                digits.parse().ok().filter(|bits| *bits <= width).ok_or_else(|| wrong("too many bits"))?
            }
            Some(_) => return Err(wrong("what follows '/' is not a number of bits")),
        };
        let range = Self { address, bits };
        let beyond = match address {
            IpAddr::V4(four) => u128::from(four.to_bits()),
            IpAddr::V6(six) => six.to_bits(),
        };
        let dropped = u32::from(width - bits);
        if beyond != masked(beyond, width.into(), bits).checked_shl(dropped).unwrap_or(0) {
            return Err(wrong("bits are set behind the prefix"));
        }
        Ok(range)
    }
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

impl TryFrom<String> for Cidr {
    type Error = InvalidTarget;
    fn try_from(text: String) -> Result<Self, InvalidTarget> {
        text.parse()
    }
}

impl From<Cidr> for String {
    fn from(range: Cidr) -> Self {
        range.to_string()
    }
}

#[cfg(test)]
#[path = "cidr_tests.rs"]
mod tests;

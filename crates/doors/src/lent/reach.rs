//! A target of a network's rules as the originals of these doors take it: bits behind the prefix of a range do not
//! count. Elsewhere they are an error, as whoever wrote them may have meant something else.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use sandgate_core::network::{InvalidTarget, Target};

pub(crate) fn read_target(text: &str) -> Result<Target, InvalidTarget> {
    match masked(text) {
        Some(range) => range.parse(),
        None => text.parse(),
    }
}

/// None: it is no range, or none that can be read.
fn masked(text: &str) -> Option<String> {
    let (front, behind) = text.split_once('/')?;
    let (bracket, address) = match front.strip_prefix('[') {
        Some(address) => ("[", address),
        None => ("", front),
    };
    let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
    let (bits, rest) = behind.split_at_checked(digits)?;
    let bits: u32 = bits.parse().ok()?;
    let kept = match address.parse().ok()? {
        IpAddr::V4(four) => {
            let dropped = 32_u32.checked_sub(bits)?;
            let mask = u32::MAX.checked_shl(dropped).unwrap_or(0);
            IpAddr::V4(Ipv4Addr::from_bits(four.to_bits() & mask))
        }
        IpAddr::V6(six) => {
            let dropped = 128_u32.checked_sub(bits)?;
            let mask = u128::MAX.checked_shl(dropped).unwrap_or(0);
            IpAddr::V6(Ipv6Addr::from_bits(six.to_bits() & mask))
        }
    };
    Some(format!("{bracket}{kept}/{bits}{rest}"))
}

#[cfg(test)]
#[path = "reach_tests.rs"]
mod tests;

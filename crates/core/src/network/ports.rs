//! Which ports a rule is about.

use std::fmt;

use super::InvalidTarget;
use super::name::shortened;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PortRange {
    first: u16,
    last: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ports {
    /// 80 and 443: what a name stands for when nothing more is said.
    Web,
    Range(PortRange),
    Any,
}

impl Ports {
    /// `8443`, `8000-8010` or `*`.
    pub fn parse(text: &str) -> Result<Self, InvalidTarget> {
        if text == "*" {
            return Ok(Self::Any);
        }
        let number = |digits: &str| {
            let plain =
                !digits.is_empty() && digits.len() <= 5 && digits.bytes().all(|byte| byte.is_ascii_digit());
            plain.then(|| digits.parse::<u16>().ok()).flatten().filter(|port| *port > 0)
        };
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last => Ok(Self::Range(PortRange { first, last })),
            _ => Err(InvalidTarget::Ports(shortened(text))),
        }
    }

    #[must_use]
    pub fn contains(self, port: u16) -> bool {
        match self {
            Self::Web => port == 80 || port == 443,
            Self::Range(range) => range.first <= port && port <= range.last,
            Self::Any => true,
        }
    }

    #[must_use]
    pub fn covers(self, other: Self) -> bool {
        match (self, other) {
            (Self::Any, _) | (Self::Web, Self::Web) => true,
            (_, Self::Any) => false,
            (_, Self::Web) => self.contains(80) && self.contains(443),
            // A range of web ports alone is one of its two ends.
            (Self::Web, Self::Range(range)) => range.first == range.last && self.contains(range.first),
            (Self::Range(own), Self::Range(range)) => own.first <= range.first && range.last <= own.last,
        }
    }

    /// The ports themselves, when they can be listened on one by one.
    #[must_use]
    pub fn few(self) -> Option<Vec<u16>> {
        const FEW: u16 = 32;
        match self {
            Self::Web => Some(vec![80, 443]),
            Self::Range(range) if range.last - range.first < FEW => {
                Some((range.first..=range.last).collect())
            }
            Self::Range(_) | Self::Any => None,
        }
    }
}

impl fmt::Display for Ports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Web => f.write_str("80,443"),
            Self::Range(range) if range.first == range.last => write!(f, "{}", range.first),
            Self::Range(range) => write!(f, "{}-{}", range.first, range.last),
            Self::Any => f.write_str("*"),
        }
    }
}

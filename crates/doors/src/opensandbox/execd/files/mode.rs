//! Permissions as this protocol writes them: the digits of the octal number, as if they were a decimal one (644); and
//! who owns a file.

use serde::Deserialize;

use super::super::guest::USER;
use super::super::refusal::Refusal;

/// What a client wants of a file or folder. No mode, or 0: as it is.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Permission {
    #[serde(default)]
    mode: Option<u32>,
    #[serde(default)]
    owner: Option<String>,
    #[serde(default)]
    group: Option<String>,
}

impl Permission {
    /// The bits to set. Nobody but the one user there is can own anything.
    pub(super) fn bits(&self) -> Result<Option<u32>, Refusal> {
        for (what, name) in [("owner", &self.owner), ("group", &self.group)] {
            match name.as_deref() {
                None | Some("" | USER) => {}
                Some(other) => {
                    let message = format!(
                        "{what} '{other}' is not available: files here belong to '{USER}', the one user there is"
                    );
                    return Err(Refusal::unsupported(message));
                }
            }
        }
        self.mode.filter(|mode| *mode != 0).map(bits).transpose()
    }
}

fn bits(digits: u32) -> Result<u32, Refusal> {
    let bits = u32::from_str_radix(&digits.to_string(), 8).ok().filter(|bits| *bits <= 0o7777);
    bits.ok_or_else(|| Refusal::invalid(format!("mode {digits} is not a number of octal digits like 644")))
}

pub(super) fn digits(bits: u32) -> u32 {
    format!("{:o}", bits & 0o777).parse().unwrap_or_default()
}

#[cfg(test)]
#[path = "mode_tests.rs"]
mod tests;

//! What providers tell of files, in the forms that several of them share.

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Milliseconds since 1970 of a time as RFC 3339 writes it; 0 where it cannot be read.
pub(crate) fn modified_ms(text: &str) -> i64 {
    let at = OffsetDateTime::parse(text, &Rfc3339).map(|at| at.unix_timestamp_nanos() / 1_000_000);
    at.ok().and_then(|ms| i64::try_from(ms).ok()).unwrap_or_default()
}

/// Permission bits of decimal digits that are meant as octal ones: 644.
pub(crate) fn bits_of_digits(digits: u32) -> u32 {
    u32::from_str_radix(&digits.to_string(), 8).unwrap_or_default() & 0o7777
}

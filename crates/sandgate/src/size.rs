//! Sizes as people write them: `512m`, `1g`, `1.5GiB`. All units count in 1024s.

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SizeError {
    #[error("a size is wanted, such as 512m, 1g or 1.5GiB")]
    Unreadable,
    #[error("less than 64m is too little for an interpreter")]
    TooSmall,
}

const MIB: u64 = 1 << 20;
pub(crate) const SMALLEST: u64 = 64 * MIB;

/// Bytes of memory for a sandbox.
pub(crate) fn memory(text: &str) -> Result<u64, SizeError> {
    match parse(text) {
        Some(bytes) if bytes < SMALLEST => Err(SizeError::TooSmall),
        Some(bytes) => Ok(bytes),
        None => Err(SizeError::Unreadable),
    }
}

fn parse(text: &str) -> Option<u64> {
    let text = text.trim();
    let unit_at = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let shift = match unit.trim_start().to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        _ => return None,
    };
    let bytes = number.parse::<f64>().ok()? * 2f64.powi(shift);
    // Beyond this the float no longer tells single bytes apart, and no machine has so much.
    let sensible = bytes.is_finite() && (0.0..2f64.powi(53)).contains(&bytes);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked on the line above")]
    sensible.then_some(bytes as u64)
}

#[cfg(test)]
#[path = "size_tests.rs"]
mod tests;

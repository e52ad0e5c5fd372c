//! Sizes as Kubernetes writes them: `512Mi`, `2G`, `500m`.

const UNITS: [(&str, u64); 9] = [
    ("Ki", 1 << 10),
    ("Mi", 1 << 20),
    ("Gi", 1 << 30),
    ("Ti", 1 << 40),
    ("k", 1_000),
    ("K", 1_000),
    ("M", 1_000_000),
    ("G", 1_000_000_000),
    ("T", 1_000_000_000_000),
];

pub(super) fn bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let (number, unit) = UNITS
        .iter()
        .find_map(|(suffix, unit)| Some((text.strip_suffix(suffix)?, *unit)))
        .unwrap_or((text, 1));
    thousandths(number)?.checked_mul(u128::from(unit))?.checked_div(1000)?.try_into().ok()
}

/// Thousandths of a processor.
pub(super) fn millis(text: &str) -> Option<u32> {
    let text = text.trim();
    match text.strip_suffix('m') {
        Some(millis) if millis.bytes().all(|byte| byte.is_ascii_digit()) => millis.parse().ok(),
        Some(_) => None,
        None => thousandths(text)?.try_into().ok(),
    }
}

/// A number with at most three digits behind its point, times a thousand.
fn thousandths(text: &str) -> Option<u128> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(part) || part.len() > 3 {
        return None;
    }
    let part: u128 = format!("{part:0<3}").parse().ok()?;
    whole.parse::<u64>().ok().map(|whole| u128::from(whole) * 1000 + part)
}

#[cfg(test)]
#[path = "quantity_tests.rs"]
mod tests;

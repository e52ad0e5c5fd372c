//! What is looked for, read strictly: a filter that is misspelt would find everything.

use std::time::{SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use sandgate_core::Owner;
use sandgate_gate::GateError;
use sandgate_store::{KINDS, LedgerFilter};

use crate::openai::{ApiResult, Query};

pub(super) const PAGE: [&str; 4] = ["limit", "order", "after", "before"];
/// How a record can stand.
pub const STATUSES: [&str; 8] =
    ["running", "completed", "failed", "incomplete", "cancelled", "lost", "allowed", "denied"];
/// What everybody may look for.
pub(super) const OWN: [&str; 8] =
    ["request_id", "key_id", "kind", "status", "model", "container_id", "since", "until"];
/// What only the operator can.
pub(super) const ALL: [&str; 1] = ["owner"];

pub(super) fn read(query: &Query, known: &[&[&str]]) -> ApiResult<LedgerFilter> {
    if let Some(name) = query.names().find(|name| !known.iter().any(|names| names.contains(name))) {
        return Err(GateError::unknown_parameter(name).into());
    }
    let text = |name: &str| query.get(name).filter(|text| !text.is_empty()).map(str::to_owned);
    let time = |name: &'static str| {
        let parsed = text(name).map(|text| when(&text));
        parsed.transpose().map_err(|message| GateError::bad_value(name, message))
    };
    let kind = text("kind");
    if let Some(kind) = kind.as_deref().filter(|kind| !KINDS.contains(kind)) {
        let message = format!("Invalid value: '{kind}'. Supported values are: {}.", KINDS.join(", "));
        return Err(GateError::bad_value("kind", message).into());
    }
    let status = text("status");
    if let Some(status) = status.as_deref().filter(|status| !STATUSES.contains(status)) {
        let message = format!("Invalid value: '{status}'. Supported values are: {}.", STATUSES.join(", "));
        return Err(GateError::bad_value("status", message).into());
    }
    Ok(LedgerFilter {
        request: text("request_id"),
        owner: text("owner").map(Owner::from_stored),
        key: text("key_id"),
        kind,
        status,
        model: text("model"),
        container: text("container_id"),
        since_ms: time("since")?,
        until_ms: time("until")?,
        request_part: None,
    })
}

/// A moment in milliseconds since 1970: seconds since then, a date, a date with a time, or how long ago.
pub fn when(text: &str) -> Result<u64, String> {
    let wrong = || {
        format!(
            "'{text}' is no time; seconds since 1970, 2026-01-31, 2026-01-31T12:00:00Z or, for so long ago, \
             90m, 24h or 7d are wanted"
        )
    };
    if let Ok(seconds) = text.parse::<f64>() {
        let seconds = std::time::Duration::try_from_secs_f64(seconds).map_err(|_| wrong())?;
        return u64::try_from(seconds.as_millis()).map_err(|_| wrong());
    }
    let units = [("d", 24 * 60 * 60), ("h", 60 * 60), ("m", 60), ("s", 1_u64)];
    let ago = units.into_iter().find_map(|(unit, seconds)| {
        let number: u64 = text.strip_suffix(unit)?.parse().ok()?;
        number.checked_mul(seconds)?.checked_mul(1000)
    });
    if let Some(ago) = ago {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        return Ok(u64::try_from(now).unwrap_or(u64::MAX).saturating_sub(ago));
    }
    let moment = match text.parse::<Timestamp>() {
        Ok(moment) => moment,
        Err(_) => {
            let date: Date = text.parse().map_err(|_| wrong())?;
            date.to_zoned(TimeZone::UTC).map_err(|_| wrong())?.timestamp()
        }
    };
    u64::try_from(moment.as_millisecond()).map_err(|_| wrong())
}

#[cfg(test)]
#[path = "wish_tests.rs"]
mod tests;

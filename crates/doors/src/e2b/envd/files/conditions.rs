//! Whether the client has the file already, or wants a part of one that is still the same (RFC 9110, 13).

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::http::header::{
    ETAG, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, IF_UNMODIFIED_SINCE, LAST_MODIFIED,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use sandgate_core::Entry;

/// Of the year 9999.
const LAST_SECOND: u64 = 253_402_300_799;

/// How one state of a file is told from another.
#[derive(Clone, Debug)]
pub(super) struct Version {
    tag: String,
    modified: SystemTime,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Send,
    /// The client has it.
    Unchanged,
    /// It is not what the client takes it for.
    Changed,
}

impl Version {
    pub(super) fn of(entry: &Entry) -> Self {
        let millis = u64::try_from(entry.modified_ms).unwrap_or_default();
        let tag = format!("\"{millis:x}-{:x}\"", entry.size);
        // Code inside sets the time of a file as it likes, and no date has more than four digits for a year.
        Self { tag, modified: UNIX_EPOCH + Duration::from_secs((millis / 1000).min(LAST_SECOND)) }
    }

    pub(super) fn judge(&self, headers: &HeaderMap) -> Verdict {
        let changed = match (text(headers, &IF_MATCH), date(headers, &IF_UNMODIFIED_SINCE)) {
            (Some(tags), _) => !self.is_among(tags),
            (None, Some(date)) => self.modified > date,
            (None, None) => false,
        };
        if changed {
            return Verdict::Changed;
        }
        let unchanged = match (text(headers, &IF_NONE_MATCH), date(headers, &IF_MODIFIED_SINCE)) {
            (Some(tags), _) => self.is_among(tags),
            (None, Some(date)) => self.modified <= date,
            (None, None) => false,
        };
        if unchanged { Verdict::Unchanged } else { Verdict::Send }
    }

    /// Whether a part of it makes sense to the client.
    pub(super) fn allows_part(&self, headers: &HeaderMap) -> bool {
        match text(headers, &IF_RANGE) {
            None => true,
            Some(tag) if tag.trim().starts_with('"') => tag.trim() == self.tag,
            Some(_) => date(headers, &IF_RANGE).is_some_and(|date| date == self.modified),
        }
    }

    pub(super) fn mark(&self, headers: &mut HeaderMap) {
        let marks = [(ETAG, self.tag.clone()), (LAST_MODIFIED, httpdate::fmt_http_date(self.modified))];
        for (name, value) in marks {
            if let Ok(value) = HeaderValue::try_from(value) {
                headers.insert(name, value);
            }
        }
    }

    fn is_among(&self, tags: &str) -> bool {
        let is_this = |tag: &str| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == self.tag;
        tags.split(',').any(|tag| is_this(tag.trim()))
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

fn date(headers: &HeaderMap, name: &HeaderName) -> Option<SystemTime> {
    httpdate::parse_http_date(text(headers, name)?).ok()
}

#[cfg(test)]
#[path = "conditions_tests.rs"]
mod tests;

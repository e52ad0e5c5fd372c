//! Moments and lengths of time as people read them.

use jiff::Timestamp;
use maud::{Markup, html};
use sandgate_core::{now_ms, now_seconds};

/// How long ago, and when exactly on a closer look. The browser keeps it true.
pub(crate) fn ago_ms(ms: u64) -> Markup {
    let moment = moment(ms);
    html! {
        time datetime=(moment) title=(moment.replace('T', " ").replace('Z', " UTC")) data-ago {
            (ago(now_ms().saturating_sub(ms)))
        }
    }
}

pub(crate) fn ago_seconds(seconds: u64) -> Markup {
    ago_ms(seconds.saturating_mul(1000))
}

/// When something is to end.
pub(crate) fn until_seconds(seconds: u64) -> Markup {
    let moment = moment(seconds.saturating_mul(1000));
    let left = seconds.saturating_sub(now_seconds());
    html! {
        time datetime=(moment) title=(moment.replace('T', " ").replace('Z', " UTC")) data-until {
            @if left == 0 { "now" } @else { "in " (length(left.saturating_mul(1000))) }
        }
    }
}

fn moment(ms: u64) -> String {
    let ms = i64::try_from(ms).unwrap_or(i64::MAX);
    Timestamp::from_millisecond(ms).map(|moment| format!("{moment:.0}")).unwrap_or_default()
}

fn ago(ms: u64) -> String {
    if ms < 1500 { "just now".to_owned() } else { format!("{} ago", length(ms - ms % 1000)) }
}

/// With as many digits as matter: `840 ms`, `1.24 s`, `3 min`, `2 h`, `5 d`.
pub(crate) fn length(ms: u64) -> String {
    const SECOND: u64 = 1000;
    const MINUTE: u64 = 60 * SECOND;
    const HOUR: u64 = 60 * MINUTE;
    const DAY: u64 = 24 * HOUR;
    match ms {
        0..SECOND => format!("{ms} ms"),
        SECOND..10_000 if !ms.is_multiple_of(SECOND) => {
            format!("{}.{:02} s", ms / SECOND, ms % SECOND / 10)
        }
        SECOND..MINUTE if !ms.is_multiple_of(SECOND) => {
            format!("{}.{} s", ms / SECOND, ms % SECOND / 100)
        }
        SECOND..MINUTE => format!("{} s", ms / SECOND),
        MINUTE..HOUR => format!("{} min", ms / MINUTE),
        HOUR..DAY => format!("{} h", ms / HOUR),
        _ => format!("{} d", ms / DAY),
    }
}

/// The same of milliseconds with what is behind the point.
pub(crate) fn exact_length(ms: f64) -> String {
    if ms < 10.0 { format!("{ms:.1} ms") } else { length(whole(ms)) }
}

fn whole(number: f64) -> u64 {
    // What is no length of time is shown as none.
    let number = number.round().clamp(0.0, 1e15);
    std::time::Duration::try_from_secs_f64(number).map_or(0, |seconds| seconds.as_secs())
}

#[cfg(test)]
#[path = "times_tests.rs"]
mod tests;

//! What may be asked a second time: what never left, what a server put off, and what does the same however often
//! it is done.

use std::time::Duration;

use http::{HeaderMap, Method, StatusCode, header};

use super::HttpError;

/// Tries in all.
pub(super) const TRIES: u32 = 3;
const FIRST_WAIT: Duration = Duration::from_millis(100);
/// A server that wants to be left alone for longer is not asked again.
const LONGEST_WAIT: Duration = Duration::from_secs(3);

/// How long to wait after a failed try; None: another would be no use, or no good.
pub(super) fn wait_after_error(method: &Method, error: &HttpError, tried: u32) -> Option<Duration> {
    let may = match error {
        HttpError::Unreachable(_) => true,
        HttpError::Broken(_) => method.is_idempotent(),
        HttpError::Silent { .. }
        | HttpError::Refused { .. }
        | HttpError::TooLong { .. }
        | HttpError::Unreadable(_)
        | HttpError::Ours(_) => false,
    };
    (may && tried < TRIES).then(|| usual(tried))
}

/// The same for an answer that is not a success.
pub(super) fn wait_after_status(
    method: &Method,
    status: StatusCode,
    headers: &HeaderMap,
    tried: u32,
) -> Option<Duration> {
    let said = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let is_passing = match status {
        // Nothing was done.
        StatusCode::TOO_MANY_REQUESTS => true,
        StatusCode::BAD_GATEWAY | StatusCode::SERVICE_UNAVAILABLE | StatusCode::GATEWAY_TIMEOUT => {
            method.is_idempotent()
        }
        _ => false,
    };
    let asked = asked(headers);
    // A limit that says nothing of when it is over is no passing one.
    let may = is_passing
        && said("should-retry") != Some("false")
        && (status != StatusCode::TOO_MANY_REQUESTS || asked.is_some());
    let wait = asked.unwrap_or_else(|| usual(tried));
    (may && tried < TRIES && wait <= LONGEST_WAIT).then_some(wait)
}

/// The time after which the server wants to be asked again.
pub(super) fn asked(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(header::RETRY_AFTER)?.to_str().ok()?;
    text.parse().ok().map(Duration::from_secs)
}

fn usual(tried: u32) -> Duration {
    FIRST_WAIT * 3u32.saturating_pow(tried.saturating_sub(1))
}

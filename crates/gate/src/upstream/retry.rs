//! Trying a turn again, as long as nothing of it has been seen by anyone.

use std::future::Future;
use std::time::Duration;

use ::http::{HeaderMap, StatusCode};
use futures_util::{StreamExt, stream};
use serde_json::Value;

use super::{Turn, UpstreamError};

/// An upstream that wants to be left alone for longer is not asked again.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
const FIRST_WAIT: Duration = Duration::from_millis(250);

/// With tries left, the first event is awaited here: an answer that breaks before it is tried again too.
pub(super) async fn with_retries<F, A>(retries: u32, mut attempt: F) -> Result<Turn, UpstreamError>
where
    F: FnMut() -> A,
    A: Future<Output = Result<Turn, UpstreamError>>,
{
    let mut tried = 0;
    loop {
        let outcome = attempt().await;
        if tried == retries {
            return outcome;
        }
        let error = match outcome {
            Err(error) => error,
            Ok(Turn { mut events, headers }) => match events.next().await {
                Some(Err(error)) => error,
                first => {
                    let events = stream::iter(first).chain(events).boxed();
                    return Ok(Turn { events, headers });
                }
            },
        };
        let Some(wait) = wait_before_retry(&error, tried) else { return Err(error) };
        tracing::info!(%error, wait_ms = wait.as_millis(), "asking the upstream again");
        tokio::time::sleep(wait).await;
        tried += 1;
    }
}

/// How long to wait, or `None` where another try would not help.
fn wait_before_retry(error: &UpstreamError, tried: u32) -> Option<Duration> {
    let usual = FIRST_WAIT * 2u32.saturating_pow(tried.min(5)) + jitter();
    match error {
        UpstreamError::Unreachable(_) | UpstreamError::Broken(_) => Some(usual),
        UpstreamError::Status { status, headers, body } => {
            let may = match header(headers, "x-should-retry") {
                Some(said) => said == "true",
                None => is_passing(*status) && !is_out_of_quota(body),
            };
            let wait = asked_wait(headers).unwrap_or(usual);
            (may && wait <= LONGEST_WAIT).then_some(wait)
        }
        UpstreamError::TimedOut { .. } | UpstreamError::Unsupported(_) => None,
    }
}

fn is_passing(status: StatusCode) -> bool {
    matches!(status.as_u16(), 429 | 500 | 502 | 503 | 504)
}

/// Sent as a 429, but waiting does not help.
fn is_out_of_quota(body: &[u8]) -> bool {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    body["error"]["code"] == "insufficient_quota" || body["error"]["type"] == "insufficient_quota"
}

fn asked_wait(headers: &HeaderMap) -> Option<Duration> {
    let number = |name| header(headers, name).and_then(|text| text.parse::<f64>().ok());
    let seconds = number("retry-after-ms").map(|ms| ms / 1000.0).or_else(|| number("retry-after"))?;
    Duration::try_from_secs_f64(seconds).ok()
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

/// Spreads loops that failed together.
fn jitter() -> Duration {
    let random = u64::from_str_radix(&sandgate_core::random_hex(1), 16).unwrap_or_default();
    Duration::from_millis(random / 2)
}

#[cfg(test)]
#[path = "retry_tests.rs"]
mod tests;

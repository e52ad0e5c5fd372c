//! What is tried again, how often, and after which wait.

use std::cell::Cell;
use std::time::Duration;

use ::http::{HeaderMap, HeaderName, StatusCode};
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use serde_json::json;

use super::{FIRST_WAIT, LONGEST_WAIT, wait_before_retry, with_retries};
use crate::upstream::{Turn, UpstreamError};

fn status(code: u16, headers: &[(&str, &str)], body: &'static str) -> UpstreamError {
    let headers = headers
        .iter()
        .map(|(name, value)| (name.parse::<HeaderName>().unwrap(), value.parse().unwrap()))
        .collect::<HeaderMap>();
    let status = StatusCode::from_u16(code).unwrap();
    UpstreamError::Status { status, headers: Box::new(headers), body: Bytes::from_static(body.as_bytes()) }
}

fn turn(events: Vec<Result<serde_json::Value, UpstreamError>>) -> Turn {
    Turn { events: stream::iter(events).boxed(), headers: HeaderMap::new() }
}

fn again(error: &UpstreamError) -> bool {
    wait_before_retry(error, 0).is_some()
}

#[test]
fn what_passes_by_itself_is_tried_again() {
    for code in [429, 500, 502, 503, 504] {
        assert!(again(&status(code, &[], "")), "{code}");
    }
    assert!(again(&UpstreamError::Unreachable("refused".to_owned())));
    assert!(again(&status(409, &[("x-should-retry", "true")], "")));
}

#[test]
fn what_would_fail_again_is_not() {
    for code in [400, 401, 403, 404, 413, 422, 501] {
        assert!(!again(&status(code, &[], "")), "{code}");
    }
    assert!(!again(&UpstreamError::TimedOut { seconds: 600 }));
    assert!(!again(&status(429, &[], r#"{"error":{"code":"insufficient_quota"}}"#)));
    assert!(!again(&status(503, &[("x-should-retry", "false")], "")));
}

#[test]
fn the_wait_the_upstream_asks_for_is_kept_within_bounds() {
    let wait = |headers: &[(&str, &str)]| wait_before_retry(&status(429, headers, ""), 0);
    assert_eq!(wait(&[("retry-after", "7")]), Some(Duration::from_secs(7)));
    assert_eq!(wait(&[("retry-after-ms", "1500"), ("retry-after", "9")]), Some(Duration::from_millis(1500)));
    assert_eq!(wait(&[("retry-after", &(LONGEST_WAIT.as_secs() + 1).to_string())]), None);
    let usual = FIRST_WAIT..FIRST_WAIT * 2;
    for nonsense in ["-1", "NaN", "soon", "Wed, 21 Oct 2026 07:28:00 GMT"] {
        assert!(usual.contains(&wait(&[("retry-after", nonsense)]).unwrap()), "{nonsense}");
    }
}

#[test]
fn waits_grow_and_stay_bounded() {
    let wait = |tried| wait_before_retry(&UpstreamError::Broken("cut".to_owned()), tried).unwrap();
    assert!(wait(1) >= FIRST_WAIT * 2 && wait(2) >= FIRST_WAIT * 4);
    assert!(wait(1000) < LONGEST_WAIT);
}

#[tokio::test]
async fn tries_are_counted() {
    for retries in [0, 1, 2] {
        let count = Cell::new(0);
        let outcome = with_retries(retries, || {
            count.set(count.get() + 1);
            async { Err(status(503, &[("retry-after-ms", "1")], "")) }
        })
        .await;
        assert!(outcome.is_err());
        assert_eq!(count.get(), retries + 1);
    }
}

#[tokio::test]
async fn an_answer_that_breaks_before_its_first_event_is_tried_again() {
    let count = Cell::new(0);
    let turn = with_retries(1, || {
        count.set(count.get() + 1);
        let events = match count.get() {
            1 => vec![Err(UpstreamError::Broken("cut".to_owned()))],
            _ => vec![Ok(json!({"type": "a"})), Ok(json!({"type": "b"}))],
        };
        async move { Ok(turn(events)) }
    })
    .await
    .unwrap();
    assert_eq!(turn.events.count().await, 2);
}

#[tokio::test]
async fn an_answer_that_breaks_after_its_first_event_is_not() {
    let count = Cell::new(0);
    let turn = with_retries(2, || {
        count.set(count.get() + 1);
        let broken = Err(UpstreamError::Broken("cut".to_owned()));
        async move { Ok(turn(vec![Ok(json!({"type": "a"})), broken])) }
    })
    .await
    .unwrap();
    let events: Vec<_> = turn.events.collect().await;
    assert!(events[0].is_ok() && events[1].is_err());
    assert_eq!(count.get(), 1);
}

//! A backend that fails is left alone for a while, and tried again.

use super::*;

fn outage() -> ProviderError {
    ProviderError::Unreachable("no route".to_owned())
}

#[test]
fn some_failures_in_a_row_open_it_and_one_success_closes_it() {
    let breaker = Breaker::new(BreakerConfig { failures: 2, rest: Duration::ZERO });
    breaker.failed(&outage());
    assert_eq!(breaker.check(), Ok(()));
    assert!(breaker.heard(Ok(1)).is_ok());
    breaker.failed(&outage());
    breaker.failed(&outage());
    assert!(breaker.lock().open_until.is_some());
    let _ = breaker.heard(Ok(1));
    assert!(breaker.lock().open_until.is_none());
}

#[test]
fn while_it_is_open_nobody_is_let_through_and_the_reason_is_said() {
    let breaker = Breaker::new(BreakerConfig { failures: 1, rest: Duration::from_secs(1000) });
    breaker.failed(&outage());
    let open = breaker.check().unwrap_err();
    assert!(open.why.contains("no route"), "{}", open.why);
    assert!(open.left > Duration::from_secs(900));
    assert!(!breaker.is_closed());
}

#[test]
fn after_the_rest_one_tries_and_the_others_wait() {
    let breaker = Breaker::new(BreakerConfig { failures: 1, rest: Duration::from_secs(1000) });
    breaker.failed(&outage());
    breaker.lock().open_until = Some(Instant::now());
    assert_eq!(breaker.check(), Ok(()));
    assert!(breaker.check().is_err());
}

#[test]
fn a_no_is_a_sign_of_life() {
    let breaker = Breaker::new(BreakerConfig { failures: 2, rest: Duration::from_secs(1000) });
    breaker.failed(&outage());
    let refused = ProviderError::Refused { status: 400, message: "no such template".to_owned() };
    let _ = breaker.heard::<()>(Err(refused));
    breaker.failed(&outage());
    assert_eq!(breaker.check(), Ok(()));
}

#[test]
fn having_no_room_is_no_outage_and_what_nobody_was_asked_no_sign_of_life() {
    let breaker = Breaker::new(BreakerConfig { failures: 2, rest: Duration::from_secs(1000) });
    for _ in 0..5 {
        let full = ProviderError::RateLimited { message: "20 sandboxes".to_owned(), retry_after: None };
        let _ = breaker.heard::<()>(Err(full));
    }
    assert!(breaker.is_closed());
    breaker.failed(&outage());
    let _ = breaker.heard::<()>(Err(ProviderError::Unsupported("running a command")));
    breaker.failed(&outage());
    assert!(!breaker.is_closed());
}

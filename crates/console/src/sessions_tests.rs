//! How sessions begin and end.

use super::*;

fn key(token: &str) -> SessionKey {
    SessionKey::of(token)
}

fn after(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[test]
fn a_session_is_found_by_its_token_alone_until_it_is_ended() {
    let sessions = Sessions::default();
    let (token, session) = sessions.begin(Rank::Master);
    let (other, second) = sessions.begin(Rank::Open);
    assert_eq!(token.len(), 64);
    assert_ne!(session.csrf, second.csrf);
    assert_ne!(session.csrf, token);
    assert_eq!(sessions.find(&key(&token), true).unwrap().rank, Rank::Master);
    assert_eq!(sessions.find(&key(&other), true).unwrap().csrf, second.csrf);
    assert!(sessions.find(&key(""), true).is_none());
    assert!(sessions.find(&key(&token[1..]), true).is_none());
    sessions.end(&key(&token));
    assert!(sessions.find(&key(&token), true).is_none());
    assert!(sessions.find(&key(&other), true).is_some());
}

#[test]
fn what_idles_ends_though_its_page_refreshes_itself() {
    let (sessions, start) = (Sessions::default(), Instant::now());
    let (token, _) = sessions.begin_at(start, Rank::Master);
    assert!(sessions.find_at(start + after(3000), &key(&token), true).is_some());
    assert!(sessions.find_at(start + after(6000), &key(&token), false).is_some());
    assert!(sessions.find_at(start + after(6700), &key(&token), false).is_none());
    assert!(sessions.find_at(start, &key(&token), true).is_none());
}

#[test]
fn no_session_lasts_for_ever() {
    let (sessions, start) = (Sessions::default(), Instant::now());
    let (token, _) = sessions.begin_at(start, Rank::Master);
    for step in 1..24 {
        assert!(sessions.find_at(start + after(step * 1800), &key(&token), true).is_some(), "{step}");
    }
    assert!(sessions.find_at(start + LONGEST, &key(&token), true).is_none());
}

#[test]
fn there_are_only_so_many_and_the_longest_idle_goes_first() {
    let (sessions, start) = (Sessions::default(), Instant::now());
    let (first, _) = sessions.begin_at(start, Rank::Master);
    let (second, _) = sessions.begin_at(start + after(1), Rank::Master);
    sessions.find_at(start + after(2), &key(&first), true).unwrap();
    for _ in 0..MOST - 1 {
        sessions.begin_at(start + after(3), Rank::Master);
    }
    assert!(sessions.find_at(start + after(4), &key(&first), true).is_some());
    assert!(sessions.find_at(start + after(4), &key(&second), true).is_none());
}

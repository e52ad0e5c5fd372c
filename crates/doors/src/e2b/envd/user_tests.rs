use super::*;

fn named(credentials: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(AUTHORIZATION, credentials.parse().unwrap());
    headers
}

#[test]
fn the_one_user_there_is_may_be_named_or_left_out() {
    assert!(check(None).is_ok() && check(Some("user")).is_ok() && check(Some("")).is_ok());
    assert!(of_call(&HeaderMap::new()).is_ok());
    assert!(of_call(&named("Basic dXNlcjo=")).is_ok());
    assert!(of_call(&named("Bearer something")).is_ok());
}

#[test]
fn root_is_refused_with_the_reason() {
    for refused in [check(Some("root")), of_call(&named("Basic cm9vdDo="))] {
        let refusal = refused.unwrap_err();
        assert_eq!(refusal.kind, Kind::Unauthenticated);
        assert!(refusal.message.contains("'root'") && refusal.message.contains("no root"), "{refusal}");
    }
    assert!(of_call(&named("Basic %%%")).is_err());
}

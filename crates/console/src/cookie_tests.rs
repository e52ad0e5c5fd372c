//! Cookies that a neighbour put there do not take the place of ours.

use super::*;

fn found(cookies: &str, is_tls: bool) -> Vec<String> {
    let headers = HeaderMap::from_iter([(COOKIE, HeaderValue::from_str(cookies).unwrap())]);
    tokens(&headers, is_tls).map(str::to_owned).collect()
}

#[test]
fn every_token_is_looked_at_and_plain_ones_only_without_tls() {
    let cookies = "sandgate_console=planted; a=b; sandgate_console=own; __Host-sandgate_console=safe";
    assert_eq!(found(cookies, true), ["safe"]);
    assert_eq!(found(cookies, false), ["safe", "planted", "own"]);
    assert!(found("__Secure-sandgate_console=x; xsandgate_console=y", false).is_empty());
    assert_eq!(found(&"sandgate_console=x; ".repeat(1000), false).len(), MOST);
}

#[test]
fn over_tls_only_this_host_can_set_it() {
    let set = set("token", true).unwrap();
    let set = set.to_str().unwrap();
    assert!(set.starts_with("__Host-") && set.contains("; Secure") && set.contains("Path=/;"), "{set}");
    assert!(!set.contains("Domain"), "{set}");
}

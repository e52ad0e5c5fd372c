//! Headers that may travel, and those that may not.

use ::http::{HeaderMap, HeaderName, HeaderValue};

use super::{remove_hop_by_hop, useful};

fn headers(names: &[(&str, &str)]) -> HeaderMap {
    names
        .iter()
        .map(|(name, value)| (name.parse::<HeaderName>().unwrap(), value.parse::<HeaderValue>().unwrap()))
        .collect()
}

#[test]
fn what_a_connection_names_as_its_own_stays_with_it() {
    let mut all = headers(&[
        ("connection", "keep-alive, X-Mine"),
        ("x-mine", "1"),
        ("te", "trailers"),
        ("transfer-encoding", "chunked"),
        ("x-theirs", "2"),
    ]);
    remove_hop_by_hop(&mut all);
    assert_eq!(all, headers(&[("x-theirs", "2")]));
}

#[test]
fn cookies_and_server_names_are_of_no_use_to_a_client() {
    let kept = [("x-request-id", "r"), ("x-ratelimit-remaining-tokens", "5"), ("openai-processing-ms", "1")];
    let mut all = kept.to_vec();
    all.extend([("set-cookie", "a=b"), ("server", "nginx"), ("content-length", "3")]);
    assert_eq!(useful(&headers(&all)), headers(&kept));
}

use std::collections::BTreeMap;

use sandgate_core::FileKind;

use super::*;

fn version() -> Version {
    version_of(1_000_500)
}

fn version_of(modified_ms: i64) -> Version {
    Version::of(&Entry {
        path: "/a".to_owned(),
        kind: FileKind::File,
        is_link: false,
        link_target: None,
        size: 16,
        mode: 0o644,
        owner: String::new(),
        group: String::new(),
        modified_ms,
        attributes: BTreeMap::new(),
    })
}

fn judged(name: HeaderName, value: &'static str) -> Verdict {
    version().judge(&HeaderMap::from_iter([(name, HeaderValue::from_static(value))]))
}

const THEN: &str = "Thu, 01 Jan 1970 00:16:40 GMT";
const EARLIER: &str = "Thu, 01 Jan 1970 00:16:39 GMT";

#[test]
fn a_client_that_has_the_file_gets_none() {
    assert_eq!(judged(IF_NONE_MATCH, "\"x\", W/\"f4434-10\""), Verdict::Unchanged);
    assert_eq!(judged(IF_NONE_MATCH, "*"), Verdict::Unchanged);
    assert_eq!(judged(IF_NONE_MATCH, "\"x\""), Verdict::Send);
    assert_eq!(judged(IF_MODIFIED_SINCE, THEN), Verdict::Unchanged);
    assert_eq!(judged(IF_MODIFIED_SINCE, EARLIER), Verdict::Send);
    assert_eq!(judged(IF_MODIFIED_SINCE, "yesterday"), Verdict::Send);
}

#[test]
fn a_client_that_means_another_file_is_told_so() {
    assert_eq!(judged(IF_MATCH, "\"x\""), Verdict::Changed);
    assert_eq!(judged(IF_MATCH, "\"f4434-10\""), Verdict::Send);
    assert_eq!(judged(IF_UNMODIFIED_SINCE, EARLIER), Verdict::Changed);
}

#[test]
fn a_part_is_given_of_the_same_file_only() {
    let allows =
        |value| version().allows_part(&HeaderMap::from_iter([(IF_RANGE, HeaderValue::from_static(value))]));
    assert!(allows("\"f4434-10\"") && allows(THEN) && version().allows_part(&HeaderMap::new()));
    assert!(!allows("\"x\"") && !allows(EARLIER) && !allows("W/\"f4434-10\""));
}

#[test]
fn times_that_no_date_can_say_are_the_last_that_one_can() {
    let mut headers = HeaderMap::new();
    version_of(i64::MAX).mark(&mut headers);
    assert_eq!(headers[LAST_MODIFIED], "Fri, 31 Dec 9999 23:59:59 GMT");
}

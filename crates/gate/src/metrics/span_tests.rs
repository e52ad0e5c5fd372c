//! Which traces of clients are taken up.

use super::*;

fn read(parent: &str) -> Option<SpanContext> {
    let mut headers = HeaderMap::new();
    headers.insert("traceparent", HeaderValue::from_str(parent).unwrap());
    headers.insert("tracestate", HeaderValue::from_static("vendor=1"));
    remote(&headers)
}

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";

#[test]
fn a_trace_of_the_client_is_taken_up_as_it_is() {
    let found = read(&format!("00-{TRACE}-b7ad6b7169203331-01")).unwrap();
    assert_eq!(
        (found.trace_id().to_string(), found.span_id().to_string()),
        (TRACE.into(), "b7ad6b7169203331".into())
    );
    assert!(found.is_sampled() && found.is_remote());
    assert_eq!(found.trace_state().get("vendor"), Some("1"));
    assert!(read(&format!("cc-{TRACE}-b7ad6b7169203331-01-what-the-future-brings")).is_some());
}

#[test]
fn what_does_not_fit_the_form_is_as_good_as_nothing() {
    for text in [
        "",
        "00",
        "00-x-y-z",
        &format!("00-{TRACE}-b7ad6b7169203331"),
        &format!("00-{TRACE}-b7ad6b7169203331-01-more"),
        &format!("ff-{TRACE}-b7ad6b7169203331-01"),
        &format!("00-{}-b7ad6b7169203331-01", TRACE.to_uppercase()),
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        &format!("00-{TRACE}-0000000000000000-01"),
        &format!("00-{TRACE}-+7ad6b7169203331-01"),
    ] {
        assert!(read(text).is_none(), "{text}");
    }
}

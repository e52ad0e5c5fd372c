//! The form of ids.

use super::{ResponseIds, is_unique};

#[test]
fn ids_of_one_response_share_their_stem() {
    let ids = ResponseIds::new();
    let (response, call) = (ids.response().to_owned(), ids.item("ci"));
    assert_eq!(response.len(), "resp_".len() + 50);
    assert_eq!(call.len(), "ci_".len() + 50);
    assert_eq!(response[5..21], call[3..19]);
    assert_ne!(ids.item("ci"), call);
    assert!(is_unique(&response) && is_unique(&call));
}

#[test]
fn counted_ids_are_not_unique() {
    for id in ["", "msg_1", "msg", "rs_000", "chatcmpl-1", "msg_aaaaaaaaaaaaaaaaaaaaaaaa/../x"] {
        assert!(!is_unique(id), "{id}");
    }
}

//! Pages of lists in memory, and queries that make no sense.

use axum::response::IntoResponse;

use super::*;

fn query(pairs: &[(&str, &str)]) -> Query {
    Query(pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect())
}

fn ids(pairs: &[(&str, &str)]) -> (Vec<String>, bool) {
    let all = ["a", "b", "c", "d"].map(str::to_owned).to_vec();
    let listed = cut(all, &query(pairs).page(2, 100).unwrap(), |id| id).unwrap();
    (listed.data, listed.has_more)
}

fn strings<const N: usize>(ids: [&str; N]) -> Vec<String> {
    ids.map(str::to_owned).to_vec()
}

#[test]
fn the_newest_come_first_and_the_rest_follows() {
    assert_eq!(ids(&[]), (strings(["d", "c"]), true));
    assert_eq!(ids(&[("after", "c")]), (strings(["b", "a"]), false));
    assert_eq!(ids(&[("order", "asc"), ("limit", "3")]), (strings(["a", "b", "c"]), true));
    assert_eq!(ids(&[("order", "asc"), ("after", "d")]), (strings([]), false));
    assert_eq!(ids(&[("order", "asc"), ("after", "a"), ("before", "c")]), (strings(["b"]), false));
    assert_eq!(ids(&[("order", "asc"), ("after", "c"), ("before", "b")]), (strings([]), false));
}

#[test]
fn nonsense_is_refused() {
    for pair in
        [("limit", "0"), ("limit", "-1"), ("limit", "101"), ("limit", "ten"), ("limit", ""), ("order", "up")]
    {
        let refused = query(&[pair]).page(20, 100).unwrap_err();
        assert_eq!(refused.into_response().status().as_u16(), 400, "{pair:?}");
    }
    let page = query(&[("after", "x")]).page(20, 100).unwrap();
    assert!(cut(strings(["a"]), &page, |id| id).is_err());
}

#[test]
fn lists_in_a_query_are_read_however_they_are_written() {
    let query = query(&[("include", "a"), ("include[]", "b"), ("include[7]", "c"), ("includes", "d")]);
    assert_eq!(query.include(), strings(["a", "b", "c"]));
}

#[test]
fn an_empty_list_has_its_shape_too() {
    let empty = list(Listed { data: Vec::new(), has_more: false });
    let expected = json!({"object": "list", "data": [], "first_id": "", "last_id": "", "has_more": false});
    assert_eq!(empty, expected);
}

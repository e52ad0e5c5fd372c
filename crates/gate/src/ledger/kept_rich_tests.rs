//! One look at each thing that was shown, within bounds.

use serde_json::json;

use super::*;

fn bundle(value: Value) -> MimeBundle {
    value.as_object().unwrap().clone()
}

#[test]
fn the_best_kind_of_each_is_kept_and_only_where_it_may_be() {
    let figure = bundle(json!({"text/html": "<p>", "image/png": "aGk=", "text/plain": "<Figure>"}));
    let mut kept = KeptRich::new(true);
    kept.add(&figure);
    kept.add(&bundle(json!({"text/plain": "4"})));
    kept.add(&bundle(json!({"image/png": 7})));
    let expected = json!({"data": [{"kind": "image/png", "data": "aGk="}], "left_out": 0});
    assert_eq!(kept.into_value(), Some(expected));
    let mut not = KeptRich::new(false);
    not.add(&figure);
    assert_eq!(not.into_value(), None);
    assert_eq!(KeptRich::new(true).into_value(), None);
}

#[test]
fn what_is_too_much_is_counted() {
    let mut kept = KeptRich::new(true);
    kept.add(&bundle(json!({"text/html": "x".repeat(MOST_BYTES + 1)})));
    for _ in 0..3 {
        kept.add(&bundle(json!({"text/html": "x".repeat(MOST_BYTES)})));
    }
    let value = kept.into_value().unwrap();
    assert_eq!((value["data"].as_array().unwrap().len(), &value["left_out"]), (2, &json!(2)));
    let mut many = KeptRich::new(true);
    for _ in 0..MOST + 5 {
        many.add(&bundle(json!({"text/html": "x"})));
    }
    let value = many.into_value().unwrap();
    assert_eq!((value["data"].as_array().unwrap().len(), &value["left_out"]), (MOST, &json!(5)));
}

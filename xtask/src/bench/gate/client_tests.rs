//! Times are read from deltas only, whoever wrote their JSON.

use super::stamps;

#[test]
fn times_are_found_in_deltas_only() {
    let text = r#"data: {"delta":"@12;","x":1} data: {"x":1,"delta": "@7;"} {"text":"@99;"} {"delta":"no"}"#;
    assert_eq!(stamps(text).collect::<Vec<_>>(), [12, 7]);
}

#[test]
fn half_a_time_is_none() {
    assert_eq!(stamps(r#"{"delta":"@12"#).count(), 0);
}

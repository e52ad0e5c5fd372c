use super::*;

fn report(json: &str) -> Report {
    serde_json::from_str(json).unwrap()
}

#[test]
fn the_table_has_a_column_for_each_set_and_a_row_for_each_area() {
    let mut compatibility = Compatibility::default();
    compatibility.add(
        "Python",
        report(
            r#"{"packages": {"e2b": "2.0"}, "areas": {
            "files": {"passed": 3, "failed": 0, "waits": []},
            "code": {"passed": 3, "failed": 0, "waits": ["later", "never"]},
            "ports": {"passed": 0, "failed": 0, "waits": ["never"]}}}"#,
        ),
    );
    compatibility.add(
        "JavaScript",
        report(
            r#"{"packages": {"e2b": "1.0", "other": "3"}, "areas": {
            "files": {"passed": 3, "failed": 1, "waits": []},
            "ports": {"passed": 0, "failed": 0, "waits": []}}}"#,
        ),
    );
    let text = compatibility.put_into("Before\n<!-- e2b: begin -->old<!-- e2b: end -->\nafter").unwrap();
    assert_eq!(
        text,
        "Before\n<!-- e2b: begin -->\n
| | Python: `e2b` 2.0 | JavaScript: `e2b` 1.0, `other` 3 |
| --- | --- | --- |
| code | in part (1) (2) | – |
| files | yes | fails |
| ports | not yet (2) | – |

1. later
2. never

<!-- e2b: end -->\nafter"
    );
    assert_eq!(compatibility.put_into(&text).unwrap(), text);
}

#[test]
fn a_text_without_marks_is_refused() {
    assert!(Compatibility::default().put_into("nothing").is_err());
}

//! What code shows never becomes a part of the page.

use super::*;
use crate::documents::Documents;

fn bundle(data: &Value) -> MimeBundle {
    data.as_object().unwrap().clone()
}

#[test]
fn a_figure_is_a_picture() {
    let data = bundle(&json!({"text/plain": "<Figure>", "image/png": "aGVs\nbG8="}));
    let shown = shown(&data, &Documents::default().of_run());
    assert_eq!(shown, json!({"kind": "image", "url": "data:image/png;base64,aGVsbG8=", "text": "<Figure>"}));
}

#[test]
fn what_is_no_base64_is_no_picture() {
    let data = bundle(&json!({"text/plain": "x", "image/png": "\" onerror=\"alert(1)"}));
    assert_eq!(shown(&data, &Documents::default().of_run()), json!({"kind": "text", "text": "x"}));
}

#[test]
fn pages_and_drawings_are_framed() {
    for kind in ["text/html", "image/svg+xml"] {
        let data = bundle(&json!({kind: "<script>alert(1)</script>", "text/plain": "a table"}));
        let shown = shown(&data, &Documents::default().of_run());
        assert_eq!(shown["kind"], "frame");
        assert_eq!(shown["text"], "a table");
        assert!(shown["src"].as_str().unwrap().starts_with("/console/shown?id="));
        assert!(!shown.to_string().contains("alert"));
    }
}

#[test]
fn the_rest_is_text() {
    let of = |data: Value| shown(&bundle(&data), &Documents::default().of_run());
    assert_eq!(of(json!({"application/json": [1]})), json!({"kind": "json", "text": "[\n  1\n]"}));
    assert_eq!(of(json!({"text/latex": "$x$"})), json!({"kind": "text", "text": "$x$"}));
    assert_eq!(
        of(json!({"application/javascript": "alert(1)"})),
        json!({"kind": "text", "text": "alert(1)"})
    );
    assert_eq!(of(json!({})), json!({"kind": "text", "text": ""}));
}

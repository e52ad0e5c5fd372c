//! Bars stay within their axis.

use sandgate_core::Owner;
use serde_json::Map;

use super::*;

fn record(kind: &'static str, began_ms: u64, ended_ms: Option<u64>) -> LedgerRecord {
    LedgerRecord {
        id: "led_1".into(),
        request: "req_1".into(),
        parent: None,
        kind,
        owner: Owner::anonymous(),
        key: None,
        model: Some("<script>alert(1)</script>".into()),
        container: None,
        began_ms,
        ended_ms,
        status: "completed".into(),
        body: Map::new(),
    }
}

#[test]
fn bars_are_where_their_time_was() {
    let tree = LedgerTree {
        request: record("request", 1000, Some(2000)),
        children: vec![record("turn", 1250, Some(1750)), record("execution", 1999, Some(1999))],
        has_more: false,
    };
    let axis = Axis::of(&tree);
    assert_eq!(axis.place(&tree.request), (0, 1000));
    assert_eq!(axis.place(&tree.children[0]), (250, 500));
    assert_eq!(axis.place(&tree.children[1]), (997, 3));
}

#[test]
fn a_clock_that_jumped_does_no_harm() {
    let tree = LedgerTree {
        request: record("request", 5000, Some(10)),
        children: vec![record("turn", u64::MAX, None)],
        has_more: false,
    };
    let axis = Axis::of(&tree);
    for record in [&tree.request, &tree.children[0]] {
        let (from, width) = axis.place(record);
        assert!(from + width <= 1000 && width >= 3, "{from} {width}");
    }
}

#[test]
fn names_of_models_stay_text() {
    let tree = LedgerTree {
        request: record("request", 0, None),
        children: vec![record("turn", 0, None)],
        has_more: false,
    };
    assert!(!show(&tree).into_string().contains("<script"));
}

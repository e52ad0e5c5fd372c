//! Sums over turns.

use serde_json::{Value, json};

use super::UsageSum;

#[test]
fn adds_numbers_at_every_depth() {
    let mut sum = UsageSum::default();
    assert_eq!(sum.to_value(), Value::Null);
    sum.add(None);
    sum.add(Some(
        &json!({"input_tokens": 10, "input_tokens_details": {"cached_tokens": 4}, "output_tokens": 1}),
    ));
    sum.add(Some(&json!({"input_tokens": 20, "input_tokens_details": {"cached_tokens": 8, "new": 3},
        "output_tokens": 2, "output_tokens_details": {"reasoning_tokens": 1}, "total_tokens": 22})));
    assert_eq!(sum.output_tokens(), 3);
    let usage = sum.to_value();
    assert_eq!(usage["input_tokens"], 30);
    assert_eq!(
        usage["input_tokens_details"],
        json!({"cached_tokens": 12, "new": 3, "cache_write_tokens": 0})
    );
    assert_eq!(usage["output_tokens_details"]["reasoning_tokens"], 1);
}

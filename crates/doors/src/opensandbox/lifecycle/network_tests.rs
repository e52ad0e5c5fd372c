//! Policies as they are asked for.

use super::*;

#[test]
fn a_policy_is_whole() {
    let whole = |policy: Value| as_policy(policy.as_object().unwrap());
    assert_eq!(whole(json!({})), json!({"defaultAction": "allow", "egress": []}));
    assert_eq!(whole(json!({"egress": []})), json!({"defaultAction": "deny", "egress": []}));
    assert!(is_deny_all(&whole(json!({"egress": [{"action": "deny", "target": "a"}]}))));
    assert!(!is_deny_all(&whole(json!({"egress": [{"action": "allow", "target": "a"}]}))));
    assert!(!is_deny_all(&whole(json!({}))));
}

#[test]
fn wrong_rules_are_named_by_their_place() {
    let mut problems = Problems::default();
    let policy =
        json!({"defaultAction": "maybe", "egress": [{"action": "deny"}, 7, {"action": "x", "target": "a"}]});
    check(&mut problems, policy.as_object().unwrap());
    let places: Vec<_> = problems.0.iter().map(|problem| problem["loc"].clone()).collect();
    assert_eq!(
        json!(places),
        json!([
            ["body", "networkPolicy", "defaultAction"],
            ["body", "networkPolicy", "egress", "0", "target"],
            ["body", "networkPolicy", "egress", "1"],
            ["body", "networkPolicy", "egress", "2", "action"],
        ])
    );
}

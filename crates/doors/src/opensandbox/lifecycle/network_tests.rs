//! Policies as they are asked for.

use super::*;

#[test]
fn a_policy_is_whole() {
    let whole = |policy: Value| as_policy(policy.as_object().unwrap());
    assert_eq!(whole(json!({})), json!({"defaultAction": "allow", "egress": []}));
    assert_eq!(whole(json!({"egress": []})), json!({"defaultAction": "deny", "egress": []}));
}

#[test]
fn a_policy_means_what_it_says() {
    let denies = json!({"defaultAction": "deny", "egress": [{"action": "deny", "target": "a.example"}]});
    assert!(network_policy(&denies).unwrap().is_disabled());
    let allows = json!({"defaultAction": "deny", "egress": [{"action": "allow", "target": "a.example"}]});
    assert_eq!(network_policy(&allows).unwrap(), NetworkPolicy::from_words(["a.example"]).unwrap());
    assert_eq!(shown_policy(&network_policy(&allows).unwrap()), allows);
    assert_eq!(network_policy(&json!({"defaultAction": "allow"})).unwrap(), NetworkPolicy::open());
    let packages = json!({"defaultAction": "deny", "egress": [
        {"action": "allow", "target": "a.example"}, {"action": "allow", "target": "registries"}]});
    let policy = network_policy(&packages).unwrap();
    assert_eq!(policy, NetworkPolicy::from_words(["a.example", "registries"]).unwrap());
    assert_eq!(shown_policy(&policy), packages);
    let first = json!({"defaultAction": "deny", "egress": [
        {"action": "deny", "target": "registries"}, {"action": "allow", "target": "registries"}]});
    assert!(network_policy(&first).unwrap().is_disabled());
    let range = |range| json!({"egress": [{"action": "allow", "target": range}]});
    assert_eq!(network_policy(&range("8.8.8.8/24")).unwrap(), network_policy(&range("8.8.8.0/24")).unwrap());
    let nonsense = json!({"defaultAction": "deny", "egress": [{"action": "allow", "target": "http://a"}]});
    assert!(network_policy(&nonsense).is_err());
}

#[test]
fn wrong_rules_are_named_by_their_place() {
    let mut problems = Problems::default();
    let policy =
        json!({"defaultAction": "maybe", "egress": [{"action": "deny"}, 7, {"action": "x", "target": "a"}]});
    check(&mut problems, &["networkPolicy"], policy.as_object().unwrap());
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

/// One that was overlooked would have allowed more than its maker wrote.
#[test]
fn fields_that_nobody_knows_are_refused() {
    let rule = json!({"action": "allow", "target": "192.0.2.1", "ports": [443]});
    let policy = json!({"defaultAction": "deny", "egress": [rule], "ingress": []});
    let mut problems = Problems::default();
    check(&mut problems, &["networkPolicy"], policy.as_object().unwrap());
    let places: Vec<_> = problems.0.iter().map(|problem| problem["loc"].clone()).collect();
    let ports = json!(["body", "networkPolicy", "egress", "0", "ports"]);
    assert_eq!(json!(places), json!([["body", "networkPolicy", "ingress"], ports]));
    assert!(rules(&json!([rule])).unwrap_err().contains("ports"));
    assert!(live_policy(policy.as_object().unwrap()).is_err());
}

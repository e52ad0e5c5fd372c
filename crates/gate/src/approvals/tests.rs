//! The order of those who are asked, and what comes of each.

use sandgate_core::{ContainerId, Owner};
use sandgate_store::NewKey;
use serde_json::json;

use super::*;
use crate::upstream::test_server::{Server, answer as served};

fn rule(name: &str, when: &str, then: Stance, reason: Option<&str>) -> Rule {
    Rule::new(name.to_owned(), when, then, reason.map(ToOwned::to_owned)).unwrap()
}

fn hook(server: &Server, when: WebhookWhen) -> Option<Webhook> {
    let secret = sandgate_core::Secret::new("secret".to_owned());
    Some(Webhook::new(&server.base, &secret, Duration::from_secs(60), when).unwrap())
}

fn approvals(policy: Policy) -> Approvals {
    Approvals::made(policy, None)
}

async fn decide_for(approvals: &Approvals, code: &str, key: Option<&str>) -> Verdict {
    let (owner, container) = (Owner::anonymous(), ContainerId::random());
    let question = Question {
        code,
        language: "python",
        model: None,
        key,
        owner: &owner,
        container: &container,
        container_name: None,
        door: "execute",
        request_id: "req_1",
    };
    approvals.decide(&question).await
}

async fn decide(approvals: &Approvals, code: &str) -> Verdict {
    decide_for(approvals, code, None).await
}

fn allowed(by: DecidedBy) -> Verdict {
    Verdict::Allowed(Permission { by, reason: None })
}

fn denied(by: DecidedBy, reason: &str) -> Verdict {
    Verdict::Denied(Denial::new(by, reason))
}

fn of_rule(name: &str) -> DecidedBy {
    DecidedBy::Rule(name.to_owned())
}

fn ann() -> Decider {
    Decider::Key("key_ann".to_owned())
}

async fn answered(verdict: impl Future<Output = Verdict>, approvals: &Approvals, approved: bool) -> Verdict {
    let person = async {
        let (held, _) = approvals.held_after(None, Duration::from_secs(60)).await;
        approvals.answer(held[0].id(), ann(), approved, Some("seen")).unwrap();
    };
    tokio::join!(verdict, person).0
}

#[tokio::test]
async fn without_a_policy_nothing_is_asked() {
    assert_eq!(decide(&Approvals::none(), "\\\n").await, allowed(DecidedBy::Nobody));
}

#[tokio::test]
async fn the_first_rule_that_holds_decides() {
    let approvals = approvals(Policy {
        rules: vec![
            rule("first", "'os' in imports", Stance::Deny, Some("not this one")),
            rule("second", "imports.size() > 0", Stance::Allow, None),
            rule("third", "code.contains('x')", Stance::Deny, None),
            rule("broken", "imports[0] == 'y'", Stance::Allow, None),
        ],
        ..Policy::default()
    });
    assert_eq!(decide(&approvals, "import os").await, denied(of_rule("first"), "not this one"));
    assert_eq!(decide(&approvals, "import sys; x").await, allowed(of_rule("second")));
    assert_eq!(decide(&approvals, "x").await, denied(of_rule("third"), "the rule 'third' forbids it"));
    let reason = "the rule 'broken' could not be applied to it";
    assert_eq!(decide(&approvals, "y").await, denied(of_rule("broken"), reason));
    approvals.replace(Policy { default: Stance::Deny, ..Policy::default() });
    assert_eq!(decide(&approvals, "import os").await, denied(DecidedBy::Default, "nothing allows it"));
    approvals.replace(Policy::default());
    assert_eq!(decide(&approvals, "import os").await, allowed(DecidedBy::Nobody));
}

#[tokio::test]
async fn code_that_cannot_be_read_is_denied() {
    let approvals =
        approvals(Policy { rules: vec![rule("r", "false", Stance::Deny, None)], ..Policy::default() });
    let many: String = (0..2000).map(|number| format!("import m{number}\n")).collect();
    let Verdict::Denied(denial) = decide(&approvals, &many).await else { panic!("it was allowed") };
    assert!(denial.reason.contains("imports more than"), "{denial:?}");
}

#[tokio::test]
async fn a_rule_sees_the_name_of_the_key() {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path()).await.unwrap();
    let (key, _) = store.create_key(NewKey { name: "ci".to_owned(), ..NewKey::default() }).await.unwrap();
    let policy =
        Policy { rules: vec![rule("r", "key.name == 'ci'", Stance::Deny, None)], ..Policy::default() };
    let approvals = Approvals::new(policy, store);
    assert_eq!(decide(&approvals, "1").await, allowed(DecidedBy::Default));
    assert!(matches!(decide_for(&approvals, "1", Some(&key.id)).await, Verdict::Denied(_)));
    // A key that is not there is nobody's.
    let unknown = decide_for(&approvals, "1", Some("key_none")).await;
    assert_eq!(unknown, denied(DecidedBy::Default, "it could not be judged"));
}

#[tokio::test]
async fn the_webhook_comes_after_the_rules_and_before_a_person() {
    let says = |decision: &str| served("200 OK", "", &json!({"decision": decision}).to_string());
    let server = Server::start(vec![says("approve"), says("deny"), says("ask"), says("deny")]).await;
    let rules = || {
        vec![
            rule("free", "code == 'free'", Stance::Allow, None),
            rule("asks", "code == 'asks'", Stance::Ask, Some("look twice")),
        ]
    };
    let webhook = hook(&server, WebhookWhen::Always);
    let approvals = approvals(Policy { rules: rules(), webhook, ..Policy::default() });
    assert_eq!(decide(&approvals, "free").await, allowed(of_rule("free")));
    assert_eq!(server.asked().len(), 0);
    assert_eq!(decide(&approvals, "other").await, allowed(DecidedBy::Webhook));
    assert_eq!(decide(&approvals, "other").await, denied(DecidedBy::Webhook, "the approval hook denied it"));
    let passed_on = answered(decide(&approvals, "other"), &approvals, true).await;
    assert!(matches!(passed_on, Verdict::Allowed(Permission { by: DecidedBy::Person(_), .. })));
    assert_eq!(decide(&approvals, "asks").await, denied(DecidedBy::Webhook, "look twice"));

    let server = Server::start(vec![says("approve")]).await;
    let webhook = hook(&server, WebhookWhen::Asked);
    approvals.replace(Policy { rules: rules(), webhook, ..Policy::default() });
    assert_eq!(decide(&approvals, "other").await, allowed(DecidedBy::Default));
    assert_eq!(server.asked().len(), 0);
    assert_eq!(decide(&approvals, "asks").await, allowed(DecidedBy::Webhook));
    // It has no second answer, and closes the connection.
    let reason = "the approval hook could not be reached";
    assert_eq!(decide(&approvals, "asks").await, denied(DecidedBy::Webhook, reason));
}

#[tokio::test]
async fn a_person_decides_or_time_does() {
    let ask =
        |person: Duration, most_held| Policy { default: Stance::Ask, person, most_held, ..Policy::default() };
    let approvals = approvals(ask(Duration::from_secs(600), 10));
    assert_eq!(
        answered(decide(&approvals, "1"), &approvals, false).await,
        denied(DecidedBy::Person(Some(ann())), "seen")
    );
    assert!(matches!(answered(decide(&approvals, "1"), &approvals, true).await, Verdict::Allowed(_)));
    approvals.replace(ask(Duration::from_secs(1), 10));
    let late = decide(&approvals, "1").await;
    assert_eq!(late, denied(DecidedBy::Person(None), "nobody decided within 1 seconds"));
    approvals.replace(ask(Duration::from_secs(1), 0));
    let full = decide(&approvals, "1").await;
    assert_eq!(full, denied(DecidedBy::Person(None), "too many executions wait for a person already"));
}

#[tokio::test]
async fn what_is_held_is_shown_whole() {
    let policy = Policy { rules: vec![rule("look", "true", Stance::Ask, Some("look"))], ..Policy::default() };
    let approvals = approvals(policy);
    let shown = async {
        let (held, _) = approvals.held_after(None, Duration::from_secs(60)).await;
        let shown = serde_json::to_value(&held[0]).unwrap();
        approvals.answer(held[0].id(), Decider::Master, true, None).unwrap();
        shown
    };
    let (_, shown) = tokio::join!(decide(&approvals, "import os"), shown);
    assert_eq!((&shown["object"], &shown["code"]), (&json!("approval"), &json!("import os")));
    assert_eq!((&shown["imports"], &shown["door"]), (&json!(["os"]), &json!("execute")));
    assert_eq!(shown["asked_by"], json!({"by": "rule", "rule": "look"}));
    assert_eq!(shown["asked_reason"], "look");
    assert_eq!(shown["expires_at"].as_u64().unwrap() - shown["created_at"].as_u64().unwrap(), 300);
}

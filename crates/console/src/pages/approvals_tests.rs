//! What is held is shown as text, and decided by whoever may.

use std::sync::Arc;

use axum::http::StatusCode;
use sandgate_core::{ContainerId, KeyLimits, Owner};
use sandgate_gate::{Policy, Question, Stance, Verdict};
use sandgate_store::NewKey;

use crate::testing::TestConsole;

const MASTER: &str = "master-of-this-server";
const CODE: &str = "import os\nprint('<script>alert(1)</script>')";

/// Code of a hostile client that waits for a person.
async fn held(console: &TestConsole) -> (tokio::task::JoinHandle<Verdict>, String) {
    held_of(console, None).await
}

/// The same, sent with a key.
async fn held_of(console: &TestConsole, key: Option<&str>) -> (tokio::task::JoinHandle<Verdict>, String) {
    let key = key.map(str::to_owned);
    let approvals = console.console.parts().approvals.clone();
    approvals.replace(Policy { default: Stance::Ask, ..Policy::default() });
    let asking = approvals.clone();
    let waits = tokio::spawn(async move {
        let (owner, container) = (Owner::from_stored("<b>ann</b>".to_owned()), ContainerId::random());
        let question = Question {
            code: CODE,
            language: "python",
            model: Some("<img src=x onerror=alert(1)>"),
            key: key.as_deref(),
            owner: &owner,
            container: &container,
            container_name: None,
            door: "responses",
            request_id: "\"><i>x",
        };
        asking.decide(&question).await
    });
    let (held, _) = approvals.held_after(None, std::time::Duration::from_secs(60)).await;
    (waits, held[0].id().to_owned())
}

#[tokio::test]
async fn what_is_held_is_shown_as_text_and_decided_once() {
    let console = TestConsole::new(Some(MASTER)).await;
    let cookie = console.sign_in(MASTER, "").await.cookie();
    let (waits, id) = held(&console).await;
    let page = console.get("/console/approvals", &cookie).await;
    assert!(page.body.contains(&id) && page.body.contains(">os<"), "{}", page.body);
    for hostile in ["<script>alert", "<img", "<b>ann", "<i>x"] {
        assert!(!page.body.contains(hostile), "{hostile}");
    }
    let csrf = page.csrf();
    let said = format!("csrf={csrf}&id={id}&decision=deny&reason=not+here");
    let done = console.post("/console/approvals/decide", &cookie, &said).await;
    assert_eq!(done.header("location"), "/console/approvals?done=deny");
    let Verdict::Denied(denial) = waits.await.unwrap() else { panic!("it was denied") };
    assert_eq!(denial.reason, "not here");
    assert_eq!(denial.by.person(), Some("master"));
    let again = console.post("/console/approvals/decide", &cookie, &said).await;
    assert_eq!(again.status, StatusCode::CONFLICT);
    let nothing = console.get("/console/approvals", &cookie).await;
    assert!(nothing.body.contains("Nothing waits"));
}

#[tokio::test]
async fn nobody_decides_about_code_of_their_own_and_who_did_is_known() {
    let console = TestConsole::new(Some(MASTER)).await;
    let mut people = Vec::new();
    for name in ["ann", "bob"] {
        let limits = KeyLimits { console: true, ..KeyLimits::default() };
        let new = NewKey { name: name.to_owned(), limits, ..NewKey::default() };
        let (record, secret) = console.store.create_key(new).await.unwrap();
        people.push((record.id, console.sign_in(secret.expose(), "").await.cookie()));
    }
    let [(ann, of_ann), (bob, of_bob)] = people.try_into().unwrap();
    let (waits, id) = held_of(&console, Some(&ann)).await;
    let decide = async |cookie: &str| {
        let page = console.get("/console/approvals", cookie).await;
        let said = format!("csrf={}&id={id}&decision=approve", page.csrf());
        let done = console.post("/console/approvals/decide", cookie, &said).await;
        (page.body.contains("value=\"approve\""), done.status)
    };
    assert_eq!(decide(&of_ann).await, (false, StatusCode::FORBIDDEN));
    assert!(!waits.is_finished());
    assert_eq!(decide(&of_bob).await, (true, StatusCode::SEE_OTHER));
    let Verdict::Allowed(permission) = waits.await.unwrap() else { panic!("it was allowed") };
    assert_eq!(permission.by.person(), Some(bob.as_str()));
    // Whoever has the master key makes the rules.
    let (waits, id) = held_of(&console, Some(&ann)).await;
    let operator = console.sign_in(MASTER, "").await.cookie();
    let csrf = console.get("/console/approvals", &operator).await.csrf();
    let said = format!("csrf={csrf}&id={id}&decision=approve");
    console.post("/console/approvals/decide", &operator, &said).await;
    assert!(matches!(waits.await.unwrap(), Verdict::Allowed(_)));
}

#[tokio::test]
async fn writing_a_reason_decides_nothing() {
    let console = TestConsole::new(Some(MASTER)).await;
    let cookie = console.sign_in(MASTER, "").await.cookie();
    let (waits, _) = held(&console).await;
    let page = console.get("/console/approvals", &cookie).await.body;
    // Enter in a field presses the first button of its form, and does nothing where that is disabled.
    let (_, form) = page.split_once("<form class=\"decide\"").unwrap();
    let (_, first) = form.split_once("<button ").unwrap();
    assert!(first.split('>').next().unwrap().contains("disabled"), "{form}");
    waits.abort();
}

#[tokio::test]
async fn without_keys_nobody_decides() {
    let console = Arc::new(TestConsole::new(None).await);
    let (waits, id) = held(&console).await;
    let page = console.get("/console/approvals", "").await;
    // It says why, and offers nothing that would be refused.
    assert!(page.body.contains("Nobody can decide here") && !page.body.contains("value=\"approve\""));
    let said = format!("csrf={}&id={id}&decision=approve", page.csrf());
    let refused = console.post("/console/approvals/decide", &page.cookie(), &said).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    assert!(!waits.is_finished());
    waits.abort();
}

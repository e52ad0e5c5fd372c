//! Only so much is kept, and what is shown cannot act.

use super::*;
use crate::testing::TestConsole;

#[test]
fn the_oldest_go_first() {
    let documents = Documents::default();
    let first = documents.keep(Kind::Html, "first").unwrap();
    for _ in 0..MOST {
        documents.keep(Kind::Svg, "another").unwrap();
    }
    assert!(documents.get(first.rsplit('=').next().unwrap()).is_none());
    assert_eq!(documents.0.lock().unwrap().len(), MOST);
}

#[test]
fn bytes_are_bounded_too() {
    let documents = Documents::default();
    let half = "x".repeat(MOST_BYTES / 2 + 1);
    let first = documents.keep(Kind::Html, &half).unwrap();
    let second = documents.keep(Kind::Html, &half).unwrap();
    assert!(documents.get(first.rsplit('=').next().unwrap()).is_none());
    assert!(documents.get(second.rsplit('=').next().unwrap()).is_some());
    assert_eq!(documents.keep(Kind::Html, &"x".repeat(MOST_BYTES + 1)), None);
}

#[tokio::test]
async fn a_page_of_a_sandbox_is_shown_without_powers() {
    let test = TestConsole::new(Some("sk-master")).await;
    let address = test.console.documents().keep(Kind::Html, "<script>alert(1)</script>").unwrap();
    let stranger = test.get(&address, "").await;
    assert!(!stranger.body.contains("alert"), "{stranger:?}");
    let cookie = test.sign_in("sk-master", "").await.cookie();
    let shown = test.get(&address, &cookie).await;
    assert!(shown.body.ends_with("<script>alert(1)</script>"), "{}", shown.body);
    let policy = shown.header("content-security-policy");
    assert!(policy.starts_with("sandbox; default-src 'none'"), "{policy}");
    assert_eq!(shown.header("x-content-type-options"), "nosniff");
}

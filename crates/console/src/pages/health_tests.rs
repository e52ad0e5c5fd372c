//! Backends are tried when a person asks, and what they say is text.

use crate::testing::TestConsole;

#[tokio::test]
async fn every_backend_is_tried_and_what_is_wrong_is_said() {
    let console = TestConsole::new(None).await;
    let page = console.get("/console/health", "").await;
    assert!(page.body.contains("Try every backend"), "{}", page.body);
    let csrf = format!("csrf={}", page.csrf());
    let tried = console.post("/console/health/check", &page.cookie(), &csrf).await;
    assert!(tried.body.contains("&lt;b&gt;far&lt;/b&gt;"), "{}", tried.body);
    assert!(tried.body.contains("it does not answer") && tried.body.contains("1.23 s"), "{}", tried.body);
    assert!(!tried.body.contains("<b>far") && !tried.body.contains("<i>it"), "{}", tried.body);
}

//! What code tried to reach is on its container's page, and nothing of it is markup.

use std::time::Duration;

use sandgate_core::NewContainer;
use sandgate_gate::Connection;

use super::super::link;
use crate::testing::TestConsole;

fn denied(name: &str) -> Connection {
    Connection {
        way: "connect",
        name: Some(name.to_owned()),
        address: Some("192.0.2.7".parse().unwrap()),
        port: 8443,
        sent: 2048,
        received: 0,
        took: Duration::from_millis(3),
        times: 7,
        verdict: "denied",
        why: Some("no rule of the sandbox <b>allows</b> it".to_owned()),
    }
}

#[tokio::test]
async fn the_last_connections_of_a_container_are_shown_and_of_no_other() {
    let console = TestConsole::new(None).await;
    let container = console.container(NewContainer::default()).await;
    let other = console.container(NewContainer::default()).await;
    let page = async || console.get(&link(container.id().as_str()), "").await.body;
    let empty = page().await;
    assert!(
        empty.contains("Connections are not written down") && empty.contains("none on record"),
        "{empty}"
    );
    let ledger = &console.console.parts().ledger;
    ledger.connected(container.owner(), container.id().as_str(), &denied("<script>evil</script>\u{202e}"));
    ledger.connected(other.owner(), other.id().as_str(), &denied("other.example"));
    ledger.flush().await;
    let page = page().await;
    for words in
        ["pill bad\">denied", "&lt;script&gt;evil", "192.0.2.7", "8443", "7 times", "2 KiB", "U+202E"]
    {
        assert!(page.contains(words), "{words} in {page}");
    }
    for words in ["<script>evil", "<b>allows", "other.example", "\u{202e}"] {
        assert!(!page.contains(words), "{words} in {page}");
    }
}

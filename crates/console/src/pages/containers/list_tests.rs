//! Whoever is asked sees what about.

use sandgate_core::NewContainer;

use super::*;
use crate::testing::TestConsole;

#[tokio::test]
async fn the_question_before_deleting_names_the_container() {
    let console = TestConsole::new(None).await;
    let new = NewContainer { name: Some("re\u{202e}port".to_owned()), ..NewContainer::default() };
    let container = console.container(new).await;
    let page = console.get(PATH, "").await.body;
    let question = format!("Delete the container “re⟨U+202E⟩port” ({}) with all its files?", container.id());
    assert!(page.contains(&question), "{page}");
}

//! Every name is its own: what differs by a blank is another file.

use axum::http::StatusCode;
use sandgate_core::{NewContainer, SandboxPath};

use super::{link_to, name_of};
use crate::testing::TestConsole;

const MASTER: &str = "master-of-this-server";

#[tokio::test]
async fn deleting_a_name_of_blanks_deletes_that_and_nothing_else() {
    let console = TestConsole::new(Some(MASTER)).await;
    let cookie = console.sign_in(MASTER, "").await.cookie();
    let container = console.container(NewContainer::default()).await;
    let files = container.files().await.unwrap();
    let path = |name: &str| SandboxPath::parse(&format!("/mnt/data/results/{name}")).unwrap();
    files.make_dir(&SandboxPath::parse("/mnt/data/results").unwrap()).await.unwrap();
    let names = [" ", "\u{a0}", "\u{3000}", "\n", "report.csv", "report.csv ", " report.csv"];
    for name in names {
        files.write(&path(name), &mut name.as_bytes()).await.unwrap();
    }
    let list = console.get(&link_to("", &container, "/mnt/data/results"), &cookie).await;
    let csrf = format!("csrf={}", list.csrf());
    for (place, name) in names.iter().enumerate().rev() {
        let download = console.get(&link_to("download", &container, path(name).as_str()), &cookie).await;
        assert_eq!(download.body, *name);
        let delete = link_to("delete", &container, path(name).as_str());
        assert!(list.body.contains(&delete.replace('&', "&amp;")), "{delete} in {}", list.body);
        assert_eq!(console.post(&delete, &cookie, &csrf).await.status, StatusCode::SEE_OTHER);
        assert!(files.stat(&path(name)).await.is_err(), "{name:?} is gone");
        for other in &names[..place] {
            assert!(files.stat(&path(other)).await.is_ok(), "{other:?} stays when {name:?} goes");
        }
    }
}

#[test]
fn a_name_of_blanks_can_be_seen() {
    assert_eq!(name_of(" ").into_string(), "“ ”");
    assert_eq!(name_of("a b").into_string(), "a b");
    assert_eq!(name_of("<b>\n\u{202e}").into_string(), "&lt;b&gt;<mark>⟨U+000A⟩</mark><mark>⟨U+202E⟩</mark>");
}

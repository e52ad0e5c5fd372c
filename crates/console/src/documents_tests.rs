//! Only so much is kept, and what is shown cannot act.

use super::*;
use crate::testing::TestConsole;

fn id(address: &str) -> &str {
    address.rsplit('=').next().unwrap()
}

#[test]
fn the_oldest_go_first_of_whoever_has_most() {
    let documents = Documents::default();
    let quiet = documents.keep(Kind::Html, "quiet", 0).unwrap();
    let first = documents.keep(Kind::Html, "first", 1).unwrap();
    for _ in 0..MOST {
        documents.keep(Kind::Svg, "another", 1).unwrap();
    }
    assert!(documents.get(id(&first)).is_none());
    assert!(documents.get(id(&quiet)).is_some(), "one that floods takes the room of nobody else");
    assert_eq!(documents.all.lock().unwrap().len(), MOST);
}

#[test]
fn bytes_are_bounded_too() {
    let documents = Documents::default();
    let half = "x".repeat(MOST_BYTES / 2 + 1);
    let first = documents.keep(Kind::Html, &half, 0).unwrap();
    let second = documents.keep(Kind::Html, &half, 0).unwrap();
    assert!(documents.get(id(&first)).is_none());
    assert!(documents.get(id(&second)).is_some());
    assert_eq!(documents.keep(Kind::Html, &"x".repeat(MOST_BYTES + 1), 0), None);
}

#[test]
fn a_run_has_room_for_so_many() {
    let documents = Documents::default();
    let run = documents.of_run();
    for _ in 0..MOST_OF_A_RUN {
        assert!(run.keep(Kind::Html, "x").is_some());
    }
    assert_eq!(run.keep(Kind::Html, "x"), None);
    assert!(documents.of_run().keep(Kind::Html, "x").is_some());
}

#[tokio::test]
async fn a_page_of_a_sandbox_is_shown_without_powers() {
    let test = TestConsole::new(Some("sk-master")).await;
    let address = test.console.documents().of_run().keep(Kind::Html, "<script>alert(1)</script>").unwrap();
    let stranger = test.get(&address, "").await;
    assert!(!stranger.body.contains("alert"), "{stranger:?}");
    let cookie = test.sign_in("sk-master", "").await.cookie();
    let shown = test.get(&address, &cookie).await;
    assert!(shown.body.ends_with("<script>alert(1)</script>"), "{}", shown.body);
    let policy = shown.header("content-security-policy");
    assert!(policy.starts_with("sandbox; default-src 'none'"), "{policy}");
    assert_eq!(shown.header("x-content-type-options"), "nosniff");
    assert_eq!(shown.header("x-dns-prefetch-control"), "off");
    // One that is gone says so within its frame.
    let gone = test.get("/console/shown?id=no", &cookie).await;
    assert!(gone.body.contains("not kept any more") && gone.header("x-frame-options").is_empty(), "{gone:?}");
}

#[test]
fn elements_that_open_connections_have_no_effect() {
    for (hostile, shown) in [
        ("<link rel=preconnect href=//a.example>", "<x-link rel=preconnect href=//a.example>"),
        ("a<LiNk\n/><<link>", "a<x-LiNk\n/><<x-link>"),
        ("<meta><Base>", "<x-meta><x-Base>"),
        // Whatever stands around it: what the browser takes it for is not guessed at.
        (
            "<!--<link>--><b title='<link>'><style><link></style>",
            "<!--<x-link>--><b title='<x-link>'><style><x-link></style>",
        ),
        ("<b>ü</b> < link </link> <l\u{131}nk> <", "<b>ü</b> < link </link> <l\u{131}nk> <"),
    ] {
        assert_eq!(without_hints(hostile), shown);
    }
}

#[tokio::test]
async fn a_drawing_is_a_picture() {
    let drawing = "<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>";
    let body = framed(Kind::Svg, drawing).into_body();
    let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
    let body = String::from_utf8(body.to_vec()).unwrap();
    assert!(body.contains("data:image/svg+xml;base64,") && !body.contains("<script"), "{body}");
}

//! Links lead where a browser would go, except out of TLS; passwords stay out of sight.

use super::{Source, join};

#[test]
fn links_are_followed_from_their_page() {
    let page = "https://a.test/simple/six/";
    for (link, to) in [
        ("https://b.test/f.whl", Some("https://b.test/f.whl")),
        ("//b.test/f.whl", Some("https://b.test/f.whl")),
        ("/f.whl", Some("https://a.test/f.whl")),
        ("f.whl", Some("https://a.test/simple/six/f.whl")),
        ("../../p/./f.whl", Some("https://a.test/p/f.whl")),
        ("../../../../../f.whl", Some("https://a.test/f.whl")),
        ("http://b.test/f.whl", None),
        ("ftp://b.test/f.whl", None),
        ("file:///etc/passwd", None),
        ("https://me:pw@b.test/f", None),
    ] {
        assert_eq!(join(page, link).as_deref(), to, "{link}");
    }
    assert_eq!(join("http://a.test/x/", "http://b.test/y").as_deref(), Some("http://b.test/y"));
}

#[test]
fn an_account_in_the_address_is_for_that_place_alone() {
    let source = Source::parse("https://me:p%40ss@a.test:8443/simple").unwrap();
    assert_eq!(source.authorization.as_ref().unwrap(), "Basic bWU6cEBzcw==");
    assert_eq!(source.url("six/"), "https://a.test:8443/simple/six/");
    assert!(!format!("{source:?}").contains("ss@"));
    assert!(source.is_same_place("https://a.test:8443/files/x"));
    for other in [
        "https://a.test/x",
        "http://a.test:8443/x",
        "https://b.test:8443/x",
        "https://a.test:8443.evil.test/",
    ] {
        assert!(!source.is_same_place(other), "{other}");
    }
    for wrong in ["", "a.test", "ftp://a.test/", "https:///x", "https://me:secret@"] {
        let told = Source::parse(wrong).unwrap_err();
        assert!(!told.contains("secret"));
    }
}

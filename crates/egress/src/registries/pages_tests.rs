//! Files of a page are found with their hashes, and offered under them.

use super::{read, write};

const PAGE: &str = r#"<!DOCTYPE html><html><body>
<a href="https://files.test/p/six-1.0.tar.gz#sha256=HASH1" data-requires-python="&gt;=3.8">six-1.0.tar.gz</a>
<a data-yanked="" href='../../p/six-1.1-py3-none-any.whl?a=1&amp;b=2#sha256=HASH2' >six</a>
<a href="https://files.test/p/nohash.whl">no hash</a>
<a href="https://files.test/p/weak.whl#md5=0123">weak</a>
<a href="http://files.test/p/plain.whl#sha256=HASH1">not by TLS</a>
<a href="https://files.test/p/&lt;x&gt;.whl#sha256=HASH1">odd</a>
</body></html>"#;

fn page() -> Vec<u8> {
    PAGE.replace("HASH1", &"ab".repeat(32)).replace("HASH2", &"cd".repeat(32)).into_bytes()
}

#[test]
fn files_with_hashes_are_found() {
    let links = read(&page(), "https://a.test/simple/six/");
    let found: Vec<_> = links.iter().map(|link| (link.name.as_str(), link.url.as_str())).collect();
    assert_eq!(
        found,
        [
            ("six-1.0.tar.gz", "https://files.test/p/six-1.0.tar.gz"),
            ("six-1.1-py3-none-any.whl", "https://a.test/p/six-1.1-py3-none-any.whl?a=1&b=2"),
        ]
    );
    assert_eq!(links[0].requires_python.as_deref(), Some("&gt;=3.8"));
    assert_eq!(links[1].yanked.as_deref(), Some(""));
}

#[test]
fn the_page_offers_them_here() {
    let written = write("six", &read(&page(), "https://a.test/simple/six/"));
    let hash = "ab".repeat(32);
    assert!(
        written.contains(&format!("href=\"/pip/files/six/sha256-{hash}/six-1.0.tar.gz#sha256={hash}\"")),
        "{written}"
    );
    assert!(written.contains("data-requires-python=\"&gt;=3.8\"") && written.contains("data-yanked=\"\""));
    assert!(!written.contains("files.test") && !written.contains("nohash"), "{written}");
}

//! Files of a page are found with their hashes, and offered under them.

use super::super::hash::Hash;
use super::{find, read, rewrite};

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
    let page = String::from_utf8(page()).unwrap();
    let links: Vec<_> = read(&page, "https://a.test/simple/six/").collect();
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
    let written = rewrite(&page(), "https://a.test/simple/six/", "six");
    let hash = "ab".repeat(32);
    assert!(
        written.contains(&format!("href=\"/pip/files/six/sha256-{hash}/six-1.0.tar.gz#sha256={hash}\"")),
        "{written}"
    );
    assert!(written.contains("data-requires-python=\"&gt;=3.8\"") && written.contains("data-yanked=\"\""));
    assert!(!written.contains("files.test") && !written.contains("nohash"), "{written}");
}

/// Else a file for another Python, or one that was taken back, would look like any other.
#[test]
fn what_a_page_says_of_a_file_is_kept_however_it_is_written() {
    let hash = "ab".repeat(32);
    for (said, written) in [
        ("data-requires-python=\">=3.8\"", " data-requires-python=\"&gt;=3.8\""),
        ("data-requires-python='>=3.8,<4'", " data-requires-python=\"&gt;=3.8,&lt;4\""),
        ("data-yanked='it is \"broken\"'", " data-yanked=\"it is &quot;broken&quot;\""),
        ("data-yanked", " data-yanked=\"\""),
        ("DATA-YANKED=''", " data-yanked=\"\""),
    ] {
        let page = format!("<a {said} href=\"/f/six-1.0.whl#sha256={hash}\">six</a>");
        let page = rewrite(page.as_bytes(), "https://a.test/simple/six/", "six");
        assert!(page.contains(&format!("#sha256={hash}\"{written}>")), "{said}: {page}");
    }
}

#[test]
fn what_a_file_says_of_itself_is_offered_under_its_hash() {
    let (file, said) = ("ab".repeat(32), "cd".repeat(32));
    let page = |said: &str| {
        let attribute = format!("data-core-metadata=\"{said}\"");
        format!("<a href=\"/f/six-1.0.whl?x=1#sha256={file}\" {attribute}>six</a>").into_bytes()
    };
    let (from, offered) = ("https://a.test/simple/six/", page(&format!("sha256={said}")));
    let link = find(&offered, from, Hash::sha256(&file).unwrap()).unwrap();
    assert_eq!(link.metadata, Hash::sha256(&said));
    assert_eq!(link.metadata_url(), "https://a.test/f/six-1.0.whl.metadata?x=1");
    assert!(rewrite(&offered, from, "six").contains(&format!("data-core-metadata=\"sha256={said}\"")));
    // Without a hash it could not be checked.
    assert!(!rewrite(&page("true"), from, "six").contains("metadata"));
}

/// Projects with as many files there are.
#[test]
fn no_file_of_a_large_project_is_left_out() {
    let link = |number: usize| format!("<a href=\"/f/six-{number}.whl#sha256={}\">x</a>\n", "ab".repeat(32));
    let page: String = (0..50_000).map(link).collect();
    let written = rewrite(page.as_bytes(), "https://a.test/simple/six/", "six");
    assert!(written.matches("<a ").count() == 50_000 && written.contains("six-49999.whl"));
}

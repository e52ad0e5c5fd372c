//! Files of a package are offered here under their hash; versions without a strong one are not offered.

use serde_json::{Value, json};

use super::super::hash::Hash;
use super::{find, rewrite};

#[test]
fn tarballs_are_found_here() {
    let hash = format!("{}==", "A".repeat(86));
    let page = json!({"name": "left-pad", "versions": {
        "1.0.0": {"dist": {"tarball": "https://files.test/left-pad-1.0.0.tgz", "integrity": format!("sha512-{hash}")}},
        "0.1.0": {"dist": {"tarball": "https://files.test/left-pad-0.1.0.tgz", "shasum": "00"}},
        "0.2.0": {"dist": {"tarball": "http://files.test/left-pad-0.2.0.tgz", "integrity": format!("sha512-{hash}")}},
    }});
    let from = "https://registry.test/left-pad";
    let page = page.to_string().into_bytes();
    let document = rewrite(&page, from, "left-pad", "127.0.0.1:3128").unwrap();
    let document: Value = serde_json::from_slice(&document).unwrap();
    let kept: Vec<_> = document["versions"].as_object().unwrap().keys().collect();
    assert_eq!(kept, ["1.0.0"], "only what can be checked, and came by TLS");
    let here = document["versions"]["1.0.0"]["dist"]["tarball"].as_str().unwrap();
    let zeros = "00".repeat(64);
    assert_eq!(here, format!("http://127.0.0.1:3128/npm/-/files/left-pad/sha512-{zeros}/left-pad-1.0.0.tgz"));
    let found = find(&page, from, Hash::Sha512([0; 64]));
    assert_eq!(found.as_deref(), Some("https://files.test/left-pad-1.0.0.tgz"));
    assert_eq!(find(&page, from, Hash::Sha512([1; 64])), None);
}

#[test]
fn what_is_no_packument_is_refused() {
    for page in ["", "[]", "{}", "{\"versions\": 1}"] {
        assert!(rewrite(page.as_bytes(), "https://registry.test/x", "x", "here").is_none(), "{page}");
    }
}

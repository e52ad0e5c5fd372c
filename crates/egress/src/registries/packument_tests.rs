//! Files of a package are offered here under their hash; versions without a strong one are not offered.

use serde_json::{Value, json};

use super::super::hash::Hash;
use super::{find, named, rewrite};

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
    assert_eq!(here, "http://127.0.0.1:3128/npm/left-pad/-/left-pad-1.0.0.tgz");
    let found = find(&page, from, Hash::Sha512([0; 64]));
    assert_eq!(found.as_deref(), Some("https://files.test/left-pad-1.0.0.tgz"));
    assert_eq!(find(&page, from, Hash::Sha512([1; 64])), None);
}

#[test]
fn a_file_is_found_by_its_usual_name_and_by_the_registrys_own() {
    let version = |url: &str, letter: &str| {
        let hash = format!("sha512-{}==", letter.repeat(86));
        json!({"dist": {"tarball": url, "integrity": hash}})
    };
    let page = json!({"versions": {
        "1.0.0": version("https://files.test/download/@scope/name/1.0.0/0a1b", "A"),
        "1.0.0-rc.1": version("https://files.test/@scope/name/-/odd.tgz?x=/1", "A"),
        "0.1.0": {"dist": {"tarball": "https://files.test/name-0.1.0.tgz"}},
        "1/../2": version("https://files.test/x.tgz", "A"),
    }});
    let (page, from) = (page.to_string().into_bytes(), "https://registry.test/@scope%2fname");
    let url = |name: &str| named(&page, from, "@scope/name", name).map(|(_, url)| url);
    assert_eq!(url("name-1.0.0.tgz").unwrap(), "https://files.test/download/@scope/name/1.0.0/0a1b");
    assert_eq!(url("name-1.0.0-rc.1.tgz"), url("odd.tgz"));
    assert!(url("odd.tgz").is_some());
    assert_eq!(url("name-0.1.0.tgz"), None, "nothing says what it should be");
    assert_eq!(url("name-2.0.0.tgz"), None);
    let document = rewrite(&page, from, "@scope/name", "127.0.0.1:3128").unwrap();
    let document: Value = serde_json::from_slice(&document).unwrap();
    assert_eq!(document["versions"].as_object().unwrap().len(), 2, "{document}");
    let here = &document["versions"]["1.0.0-rc.1"]["dist"]["tarball"];
    assert_eq!(here, "http://127.0.0.1:3128/npm/@scope/name/-/name-1.0.0-rc.1.tgz");
}

#[test]
fn what_is_no_packument_is_refused() {
    for page in ["", "[]", "{}", "{\"versions\": 1}"] {
        assert!(rewrite(page.as_bytes(), "https://registry.test/x", "x", "here").is_none(), "{page}");
    }
}

//! As the SDKs send it.

use super::*;

fn pairs(text: &str) -> Vec<(String, String)> {
    // What the reader of the query has already done.
    let query = form(&format!("metadata={text}"));
    read(&query[0].1).unwrap().into_iter().collect()
}

fn pair(name: &str, value: &str) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

#[test]
fn three_layers_come_off() {
    let sent = "name%3Da%252520b%252526c%25253Dd%26x%3D%2525C5%2525BE";
    assert_eq!(pairs(sent), [pair("name", "a b&c=d"), pair("x", "ž")]);
    // Written by hand, without the inner layers.
    assert_eq!(pairs("user%3Dann"), [pair("user", "ann")]);
    assert_eq!(pairs("a%3D1%252B1"), [pair("a", "1+1")]);
    assert_eq!(pairs("a%3D100%2525"), [pair("a", "100%")]);
}

#[test]
fn what_is_no_text_is_refused() {
    assert!(read("a=%25FF").is_err());
    assert!(read("").unwrap().is_empty());
}

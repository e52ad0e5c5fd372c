//! Keys and values have the places an editor shows.

use super::*;

const TEXT: &str = "\
# a comment
models:
  - name: gpt-5
    upstream: main
upstreams: {main: {url: 'http://x', n: 1.5, on: true, none: }}
";

#[test]
fn a_value_is_found_by_its_path() {
    let places = Places::of(TEXT);
    let at = |path: KeyPath| {
        let Place { line, column } = places.find(&path);
        (line, column)
    };
    assert_eq!(at(KeyPath::of("models").index(0).key("upstream")), (4, 15));
    assert_eq!(at(KeyPath::of("models")), (2, 1));
    assert_eq!(at(KeyPath::dotted("upstreams.main.url")), (5, 25));
    assert_eq!(at(KeyPath::dotted("upstreams.main")), (5, 13));
    // What is not there has the place of what is.
    assert_eq!(at(KeyPath::dotted("upstreams.main.key")), (5, 13));
    assert_eq!(at(KeyPath::of("nothing")), (1, 1));
}

#[test]
fn a_path_is_written_as_people_do() {
    assert_eq!(KeyPath::of("models").index(2).key("name").to_string(), "models[2].name");
}

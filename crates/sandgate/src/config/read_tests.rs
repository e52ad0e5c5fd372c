//! The configuration is strict and names what is wrong, where, and what was meant.

use super::super::file::ConfigFile;
use super::*;

#[track_caller]
fn mistake(yaml: &str) -> String {
    match read::<ConfigFile>(Path::new("gate.yaml"), yaml) {
        Ok(file) => panic!("{file:?}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn unknown_keys_are_named_with_what_was_meant() {
    assert_eq!(
        mistake("listen: 127.0.0.1:4000\nidel_seconds: 5\n"),
        "gate.yaml:2:1: idel_seconds: there is no such key; did you mean 'idle_seconds'?"
    );
    assert_eq!(
        mistake("upstreams:\n  main:\n    ulr: http://x\n"),
        "gate.yaml:3:5: upstreams.main.ulr: there is no such key; did you mean 'url'?"
    );
    let said = mistake("limits:\n  zzz: 1\n");
    assert!(said.starts_with("gate.yaml:2:3: limits.zzz: there is no such key; possible here: "), "{said}");
}

#[test]
fn duplicates_are_refused() {
    assert_eq!(mistake("pool: 1\npool: 2\n"), "gate.yaml:2:1: pool: this key is there twice");
    let said = mistake("upstreams:\n  a: {url: x}\n  a: {url: y}\n");
    assert_eq!(said, "gate.yaml:3:3: upstreams.a: this key is there twice");
}

#[test]
fn wrong_values_have_their_place() {
    let said = mistake("pool: many\n");
    assert!(said.starts_with("gate.yaml:1:7: pool: "), "{said}");
    let said = mistake("models:\n- {name: a}\n- {name: [b]}\n");
    assert!(said.starts_with("gate.yaml:3:10: models[1].name: "), "{said}");
    let said = mistake("upstream: {url: x, api: grpc}\n");
    assert!(said.starts_with("gate.yaml:1:25: upstream.api: 'grpc' is not possible here"), "{said}");
    assert!(said.contains("'responses', 'chat', 'loopback'"), "{said}");
    let said = mistake("models:\n- {upstream: a}\n");
    assert!(said.ends_with("models[0].name: this key is missing"), "{said}");
    assert!(mistake("limits: [\n").starts_with("gate.yaml:"));
    assert!(mistake("- a\n").starts_with("gate.yaml:1:1: "));
}

#[test]
fn another_kind_of_value_is_said_in_words_of_the_file() {
    for (yaml, said) in [
        (
            "network: {default: example.org}\n",
            "gate.yaml:1:20: network.default: a list is wanted, such as [a, b]",
        ),
        ("network: open\n", "gate.yaml:1:10: network: a mapping is wanted, such as {key: value}"),
        ("pool: [1]\n", "gate.yaml:1:7: pool: a single value is wanted"),
        ("- a\n", "gate.yaml:1:1: a mapping is wanted, such as {key: value}"),
        (
            "backends: {c: {type: e2b, network: x.org}}\n",
            "gate.yaml:1:36: backends.c.network: 'x.org' is not possible here; 'disabled', 'open' or a list of hosts is wanted",
        ),
        ("backends: {c: {type: e2b, network: {a: b}}}\n", "gate.yaml:1:36: backends.c.network: "),
    ] {
        let mistake = mistake(yaml);
        assert!(mistake.starts_with(said), "{mistake}");
    }
}

#[test]
fn nothing_is_enough() {
    for yaml in ["", "# nothing\n", "---\n", "listen: 127.0.0.1:4000\n"] {
        let file = read::<ConfigFile>(Path::new("gate.yaml"), yaml).unwrap();
        assert_eq!(file.listen, "127.0.0.1:4000", "{yaml:?}");
    }
}

//! Backends in the configuration: what is read, what is refused, what is never shown.

use super::super::{Settings, settings};
use super::*;

fn check(yaml: &str) -> Result<BackendSettings, String> {
    whole(yaml).map(|settings| settings.backends)
}

fn whole(yaml: &str) -> Result<Settings, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gate.yaml");
    std::fs::write(&path, yaml).unwrap();
    settings(Some(&path), None).map_err(|error| error.to_string())
}

#[track_caller]
fn refused(yaml: &str, said: &str) {
    let problem = check(yaml).unwrap_err();
    assert!(problem.contains(said), "{problem}");
}

#[test]
fn without_a_word_code_runs_in_this_program() {
    let settings = check("pool: 1\n").unwrap();
    assert_eq!((settings.default.as_str(), settings.embedded), (EMBEDDED, true));
    assert!(settings.remotes.is_empty() && settings.said.is_empty());
}

#[test]
fn each_provider_has_what_it_needs_and_no_more() {
    let yaml = "backend: a\nembedded: false\nbackends:\n  a: {type: e2b, key: k, network: all}\n  \
                b: {type: opensandbox, url: 'http://x:8080', network: [example.com], fallback: [a]}\n  \
                c: {type: daytona, key: k, snapshot: s}\n";
    let settings = check(yaml).unwrap();
    assert_eq!(settings.remotes.len(), 3);
    assert_eq!(settings.remotes["b"].fallback, ["a"]);
    refused("backends: {a: {type: e2b}}\n", "a.key");
    refused("backends: {a: {type: opensandbox}}\n", "a.url");
    refused("backends: {a: {type: e2b, key: k, snapshot: s}}\n", "E2B has no such thing");
    refused("backends: {a: {type: e2b, key: 'env:SANDGATE_NO_SUCH'}}\n", "SANDGATE_NO_SUCH is not set");
    refused("backends: {a: {type: e2b, key: k, life_seconds: 5}}\n", "at least 60");
    refused("backends: {a: {type: e2b, key: k, metadata: {sandgate-gate: x}}}\n", "the gate's own");
    refused("backends: {a: {type: e2b, key: k, colour: red}}\n", "colour");
    refused("backends: {a: {type: docker, key: k}}\n", "docker");
}

#[test]
fn names_must_be_there() {
    refused("backend: b\n", "there is no backend 'b'; there is: embedded");
    refused("backends: {embedded: {type: e2b, key: k}}\n", "take another");
    refused("backends: {_a: {type: e2b, key: k}}\n", "begins and ends with a letter");
    refused("backends: {a: {type: e2b, key: k, fallback: [b]}}\n", "there is no backend 'b'");
    refused("backends: {a: {type: e2b, key: k, fallback: [a]}}\n", "itself");
    refused("models: [{name: m, backend: b}]\n", "there is no backend 'b'");
    refused("embedded: false\n", "must say where code runs");
    refused("embedded: false\nbackend: embedded\n", "there is no backend 'embedded'");
}

#[test]
fn no_secret_is_shown() {
    let yaml = "backends:\n  a: {type: e2b, key: sk-hidden, url: 'http://x', env: {A: sk-env}}\n";
    let settings = check(yaml).unwrap();
    let shown = format!("{settings:?} {:?}", settings.said);
    for secret in ["sk-hidden", "sk-env"] {
        assert!(!shown.contains(secret), "{secret} in {shown}");
    }
}

#[test]
fn a_server_of_e2b_that_must_say_where_its_sandboxes_are_is_named() {
    let warned =
        |keys: &str| whole(&format!("backends: {{a: {{type: e2b, key: k{keys}}}}}\n")).unwrap().warnings;
    let said = warned(", url: 'http://e2b.example:3000'");
    assert!(said.len() == 1 && said[0].contains("gate.yaml:1:") && said[0].contains("a.url"), "{said:?}");
    for keys in
        ["", ", domain: x.org", ", url: 'https://api.x.org'", ", url: 'http://x', sandbox_url: 'http://x'"]
    {
        assert!(warned(keys).is_empty(), "{keys}");
    }
}

#[test]
fn every_image_of_opensandbox_starts_with_something() {
    for image in [
        OPENSANDBOX_IMAGE,
        "opensandbox/code-interpreter",
        "mirror.example:5000/opensandbox/code-interpreter@sha256:00",
    ] {
        assert_eq!(usual_entrypoint(image), [OPENSANDBOX_ENTRYPOINT], "{image}");
    }
    for image in ["python:3.12", "mirror.example:5000/python", "notopensandbox/code-interpreter:v1"] {
        assert_eq!(usual_entrypoint(image), ["tail", "-f", "/dev/null"], "{image}");
    }
}

#[test]
fn a_network_is_said_in_the_words_of_all_networks() {
    for (words, said) in [
        ("disabled", "no network"),
        ("none", "no network"),
        ("open", "the whole network"),
        ("all", "the whole network"),
        ("[x.org, 192.0.2.0/24]", "a network of 2 names"),
    ] {
        let settings = check(&format!("backends: {{a: {{type: e2b, key: k, network: {words}}}}}\n")).unwrap();
        assert!(settings.said[0].contains(said), "{:?}", settings.said);
    }
    refused(
        "backends: {a: {type: e2b, key: k, network: [x.org, open]}}\n",
        "a.network[1]: 'open' is not a host",
    );
    refused(
        "backends: {a: {type: e2b, key: k, network: [registries]}}\n",
        "a.network[0]: package registries",
    );
}

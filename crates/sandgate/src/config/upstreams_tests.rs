//! Models find their upstreams, and what cannot be is named.

use std::path::Path;

use super::super::read::read;
use super::*;

fn upstreams(yaml: &str) -> Result<Vec<String>, String> {
    let file = read::<ConfigFile>(Path::new("gate.yaml"), yaml).map_err(|error| error.to_string())?;
    let path = |problem: &Problem| problem.path.as_ref().map(ToString::to_string).unwrap_or_default();
    Upstreams::of(&file)
        .map(|upstreams| upstreams.said)
        .map_err(|problem| format!("{}: {}", path(&problem), problem.message))
}

const TWO: &str =
    "upstreams: {a: {url: 'http://127.0.0.1:9/v1'}, b: {url: 'http://127.0.0.1:8', api: chat}}\n";

#[test]
fn references_must_lead_somewhere() {
    let with = |models: &str| upstreams(&format!("{TWO}models: {models}"));
    assert_eq!(
        with("[{name: m, upstream: a}, {name: n, upstream: c}]").unwrap_err(),
        "models[1].upstream: there is no upstream 'c'; there is: a, b"
    );
    assert!(with("[{name: m}]").unwrap_err().starts_with("models[0]: 'upstream' must say"));
    assert!(with("[]").unwrap_err().starts_with("upstreams: there are several"));
    let said = with("[{name: m, upstream: a}, {name: '*', upstream: b, model: 'x-*'}]").unwrap();
    assert_eq!(
        said[1],
        "model '*' comes as 'x-*' from http://127.0.0.1:8 (Chat Completions), with each client's own key"
    );
    for (models, key) in [
        ("[{name: '', upstream: a}]", "models[0].name"),
        ("[{name: 'a*b', upstream: a}]", "models[0].name"),
        ("[{name: m, upstream: a, model: 'x*'}]", "models[0].model"),
        ("[{name: m, upstream: a, rounds: 0}]", "models[0].rounds"),
    ] {
        let said = with(models).unwrap_err();
        assert!(said.starts_with(&format!("{key}: ")), "{said}");
    }
}

#[test]
fn one_upstream_needs_no_name() {
    let short = "upstream: {url: 'http://127.0.0.1:9/v1', key: sk-literal}\n";
    let said = upstreams(short).unwrap();
    assert_eq!(said, ["models come from http://127.0.0.1:9/v1 (Responses), with the configured key"]);
    assert_eq!(upstreams(&format!("{short}models: [{{name: m, model: n}}]")).unwrap().len(), 1);
    assert!(upstreams(&format!("{short}{TWO}")).unwrap_err().starts_with("upstream: "));
    assert!(upstreams("upstream: {api: loopback}").unwrap()[0].contains("loopback"));
}

#[test]
fn what_is_wrong_with_an_upstream_is_named() {
    for (fields, said) in [
        ("api: chat", "upstream.url: this key is missing"),
        ("url: 'not a url'", "upstream.url: the upstream's address must look like"),
        (
            "url: 'http://x', key: env:SANDGATE_NO_SUCH",
            "upstream.key: the variable SANDGATE_NO_SUCH is not set",
        ),
        ("url: 'http://x', timeout_seconds: 0", "upstream.timeout_seconds: must be at least 1"),
        ("url: 'http://x', headers: {'a b': x}", "upstream.headers.a b: this is no name of a header"),
        ("url: 'http://x', headers: {a: 'env:SANDGATE_NO_SUCH'}", "upstream.headers.a: the variable"),
    ] {
        let problem = upstreams(&format!("upstream: {{{fields}}}")).unwrap_err();
        assert!(problem.starts_with(said), "{problem}");
    }
}

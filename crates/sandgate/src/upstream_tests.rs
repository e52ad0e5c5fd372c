//! Where the upstream's key comes from.

use super::*;

fn file(key: &str) -> UpstreamFile {
    UpstreamFile {
        url: "http://127.0.0.1:9/v1".into(),
        key: Some(key.into()),
        api: Api::Chat,
        timeout_seconds: 1,
    }
}

#[test]
fn a_missing_secret_is_named() {
    let said =
        |key: &str| choose(Some(&file(key))).map(|chosen| chosen.said).map_err(|error| error.to_string());
    assert!(said("env:SANDGATE_NO_SUCH_VARIABLE").unwrap_err().contains("SANDGATE_NO_SUCH_VARIABLE"));
    assert!(said("os.environ/SANDGATE_NO_SUCH_VARIABLE").is_err());
    assert!(said("file:/no/such/file").unwrap_err().contains("/no/such/file"));
    let chosen = said("sk-literal").unwrap();
    assert!(chosen.contains("Chat Completions") && chosen.contains("configured key"), "{chosen}");
    assert!(!chosen.contains("sk-literal"));
}

#[test]
fn an_address_that_is_none_is_refused() {
    let bad = UpstreamFile { url: "not a url".into(), ..file("k") };
    assert!(choose(Some(&bad)).is_err_and(|error| error.to_string().contains("not a url")));
}

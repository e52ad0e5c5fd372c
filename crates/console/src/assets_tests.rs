//! Small enough, and true to its address.

use super::*;

#[test]
fn all_of_them_together_are_small() {
    let sum: usize = PACKED.iter().map(|asset| asset.gzip.as_ref().unwrap().len()).sum();
    assert!(sum < 150 << 10, "{sum} bytes");
}

#[tokio::test]
async fn an_asset_is_kept_for_ever_at_its_own_address_only() {
    let ask = async |version: &str, name: &str, encoding: &'static str| {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(encoding));
        serve(Path((version.to_owned(), name.to_owned())), headers).await
    };
    let text = |response: &Response, name: &str| {
        response.headers().get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default()
    };
    let css = ask(&VERSION, "console.css", "br, gzip").await.unwrap();
    assert_eq!(text(&css, "content-encoding"), "gzip");
    assert!(text(&css, "cache-control").contains("immutable"));
    let old = ask("0123", "console.css", "identity").await.unwrap();
    assert_eq!(
        (text(&old, "content-encoding"), text(&old, "cache-control")),
        (String::new(), "no-store".into())
    );
    assert!(ask(&VERSION, "../lib.rs", "gzip").await.is_err());
}

#[test]
fn no_script_of_ours_makes_html_of_text() {
    for (name, _, content) in ALL {
        for word in
            ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"]
        {
            assert!(!content.contains(word), "{word} in {name}");
        }
    }
}

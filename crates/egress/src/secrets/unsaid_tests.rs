//! Headers come inside without values, in their names as in what they say.

use http::{HeaderMap, HeaderName, HeaderValue};
use sandgate_core::Secret;
use sandgate_core::network::DomainSecret;

use super::Unsaid;

#[test]
fn neither_names_nor_texts_of_headers_hold_a_value() {
    let secret = |value: &str| {
        DomainSecret::new("api.example.org", "KEY".to_owned(), Secret::new(value.to_owned())).unwrap()
    };
    let secrets = [secret("S3cret-Value"), secret("with a blank")];
    let mut headers = HeaderMap::new();
    for (name, value) in [
        ("X-s3CRET-vALUE-said", "1"),
        ("s3cret-value", "2"),
        ("x-said", "a S3cret-Value b"),
        ("x-other", "s3cret"),
    ] {
        headers.insert(name.parse::<HeaderName>().unwrap(), HeaderValue::from_static(value));
    }
    Unsaid::new(secrets.iter()).clean(&mut headers);
    assert_eq!(headers.len(), 2, "{headers:?}");
    assert_eq!(headers["x-said"], format!("a {} b", secrets[0].placeholder).as_str());
    assert_eq!(headers["x-other"], "s3cret");
}

//! Values go where the placeholder stood, written as that place needs it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::Request;
use sandgate_core::Secret;
use sandgate_core::network::DomainSecret;

use super::{exchange, head_of, is_in};

fn secret(value: &str) -> DomainSecret {
    DomainSecret::new("api.example.org", "KEY".to_owned(), Secret::new(value.to_owned())).unwrap()
}

fn exchanged(secret: &DomainSecret, uri: &str, header: &str) -> Request<()> {
    let mut request = Request::builder().uri(uri).header("authorization", header).body(()).unwrap();
    assert!(head_of(&request).iter().any(|text| is_in(secret, text)));
    exchange(&mut request, secret, secret.value.as_ref().unwrap());
    request
}

#[test]
fn headers_get_the_value() {
    let secret = secret("s3cret/+ value");
    let request = exchanged(&secret, "/", &format!("Bearer {}", secret.placeholder));
    let value = &request.headers()["authorization"];
    assert_eq!(value, "Bearer s3cret/+ value");
    assert!(value.is_sensitive(), "nobody prints it");
}

#[test]
fn passwords_are_found_inside_their_encoding() {
    let secret = secret("s3cret-s3cret");
    let basic = format!("Basic {}", STANDARD.encode(format!("me:{}", secret.placeholder)));
    let request = exchanged(&secret, "/", &basic);
    assert_eq!(
        request.headers()["authorization"],
        format!("Basic {}", STANDARD.encode("me:s3cret-s3cret")).as_str()
    );
}

#[test]
fn urls_get_it_encoded() {
    let secret = secret("a b&c=d#e");
    let request = exchanged(&secret, &format!("/v1?key={}&x=1", secret.placeholder), "none");
    assert_eq!(request.uri(), "/v1?key=a%20b%26c%3Dd%23e&x=1");
    assert_eq!(request.headers()["authorization"], "none");
}

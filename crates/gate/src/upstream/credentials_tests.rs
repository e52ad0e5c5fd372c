//! Whose account a request goes out on.

use ::http::{HeaderMap, HeaderValue};

use super::Credentials;

fn client() -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert("authorization", HeaderValue::from_static("Bearer sk-client"));
    headers.insert("openai-organization", HeaderValue::from_static("org-client"));
    headers.insert("openai-beta", HeaderValue::from_static("thing=v1"));
    headers.insert("cookie", HeaderValue::from_static("session=1"));
    headers
}

#[test]
fn without_a_key_of_the_operators_the_clients_account_travels() {
    let mut headers = HeaderMap::new();
    Credentials::from_headers(&client()).put_on(&mut headers, None);
    assert_eq!(headers["authorization"], "Bearer sk-client");
    assert_eq!(headers["openai-organization"], "org-client");
    assert_eq!(headers["openai-beta"], "thing=v1");
    assert_eq!(headers.len(), 3);
}

#[test]
fn with_a_key_of_the_operators_nothing_of_the_clients_account_travels() {
    let mut headers = HeaderMap::new();
    let key = HeaderValue::from_static("Bearer sk-operator");
    Credentials::from_headers(&client()).put_on(&mut headers, Some(&key));
    assert_eq!(headers["authorization"], "Bearer sk-operator");
    assert_eq!(headers["openai-beta"], "thing=v1");
    assert_eq!(headers.len(), 2);
}

#[test]
fn what_is_printed_holds_no_secret() {
    let mut headers = client();
    headers.insert("api-key", HeaderValue::from_static("azure-secret"));
    let credentials = Credentials::from_headers(&headers);
    let printed = format!("{credentials:?} {:?}", credentials.authorization());
    assert!(!printed.contains("sk-client") && !printed.contains("azure-secret"), "{printed}");
}

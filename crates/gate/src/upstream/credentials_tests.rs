//! Whose account a request goes out on.

use ::http::{HeaderMap, HeaderValue};

use super::Credentials;

fn client() -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert("authorization", HeaderValue::from_static("Bearer sk-client"));
    headers.insert("openai-organization", HeaderValue::from_static("org-client"));
    headers.insert("openai-beta", HeaderValue::from_static("thing=v1"));
    headers.insert("http-referer", HeaderValue::from_static("https://app.example"));
    headers.insert("x-title", HeaderValue::from_static("App"));
    headers.insert("anthropic-beta", HeaderValue::from_static("a,b"));
    headers.insert("x-forwarded-for", HeaderValue::from_static("10.0.0.1"));
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
    assert_eq!(headers["http-referer"], "https://app.example");
    assert_eq!(headers.len(), 6);
}

#[test]
fn with_a_key_of_the_operators_nothing_of_the_clients_account_travels() {
    let mut headers = HeaderMap::new();
    let key = HeaderValue::from_static("Bearer sk-operator");
    Credentials::from_headers(&client()).put_on(&mut headers, Some(&key));
    assert_eq!(headers["authorization"], "Bearer sk-operator");
    assert_eq!(headers["openai-beta"], "thing=v1");
    assert_eq!(
        (&headers["x-title"], &headers["anthropic-beta"]),
        (&"App".parse().unwrap(), &"a,b".parse().unwrap())
    );
    assert_eq!(headers.len(), 5);
}

#[test]
fn what_is_printed_holds_no_secret() {
    let mut headers = client();
    headers.insert("api-key", HeaderValue::from_static("azure-secret"));
    let credentials = Credentials::from_headers(&headers).with_query(Some("code=in-the-query"));
    let printed = format!("{credentials:?} {:?}", credentials.authorization());
    for secret in ["sk-client", "azure-secret", "in-the-query"] {
        assert!(!printed.contains(secret), "{printed}");
    }
}

//! The connection to an upstream, over real sockets.

use std::time::Duration;

use ::http::{HeaderMap, HeaderValue, Method, Request};
use bytes::Bytes;
use futures_util::stream;
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};

use super::{Connection, RequestBody, body_of};
use crate::upstream::test_server::{Answer, Server, answer};
use crate::upstream::{ConnectionConfig, Credentials, InvalidConnection, UpstreamError};

fn connect(server: &Server, change: impl FnOnce(&mut ConnectionConfig)) -> Connection {
    let mut config = ConnectionConfig::new(&server.base);
    change(&mut config);
    Connection::new(config).unwrap()
}

fn post(path: &str, headers: &[(&'static str, &'static str)], body: RequestBody) -> Request<RequestBody> {
    let mut request = Request::builder().method(Method::POST).uri(path).body(body).unwrap();
    for (name, value) in headers {
        request.headers_mut().append(*name, HeaderValue::from_static(value));
    }
    request
}

#[tokio::test]
async fn a_request_is_passed_on_byte_for_byte() {
    let back = "x-kept: yes\r\nconnection: x-private\r\nx-private: 1\r\nkeep-alive: timeout=5\r\n";
    let server = Server::start(vec![answer("418 Teapot", back, "\u{0}raw\r\n")]).await;
    let connection = connect(&server, |_| {});
    let headers = [
        ("host", "gate.example"),
        ("authorization", "Bearer sk-client"),
        ("connection", "close, x-hop"),
        ("x-hop", "1"),
        ("content-length", "9"),
        ("accept-encoding", "br"),
        ("x-twice", "a"),
        ("x-twice", "b"),
    ];
    let request = post("/v1/embeddings?a=%20b&c", &headers, body_of(&b"{ \"a\" :1}"[..]));
    let answered = connection.forward(request).await.unwrap();
    assert_eq!(answered.status().as_u16(), 418);
    assert_eq!(answered.headers()["x-kept"], "yes");
    assert!(answered.headers().get("x-private").is_none() && answered.headers().get("keep-alive").is_none());
    assert_eq!(answered.into_body().collect().await.unwrap().to_bytes(), "\u{0}raw\r\n");

    let asked = &server.asked()[0];
    assert_eq!(asked.line(), "POST /v1/embeddings?a=%20b&c HTTP/1.1");
    assert_eq!(asked.body, b"{ \"a\" :1}");
    assert_eq!(asked.header("authorization"), Some("Bearer sk-client"));
    assert_eq!(asked.header("accept-encoding"), Some("br"));
    assert_eq!(asked.header("host"), server.base.strip_prefix("http://").unwrap().strip_suffix("/v1"));
    assert_eq!(asked.header("x-hop"), None);
    assert_eq!(asked.head.matches("x-twice").count(), 2);
    assert_eq!(asked.head.matches("content-length").count(), 1);
}

#[tokio::test]
async fn the_operators_key_takes_the_place_of_the_clients_account() {
    let server = Server::start(vec![answer("200 OK", "", "")]).await;
    let connection = connect(&server, |config| {
        config.key = Some("sk-operator".to_owned());
        config.headers.insert("x-team", HeaderValue::from_static("sand"));
    });
    let headers = [("authorization", "Bearer sk-client"), ("openai-organization", "org"), ("api-key", "k")];
    connection.forward(post("/v1/x", &headers, body_of(""))).await.unwrap();
    let asked = &server.asked()[0];
    assert_eq!(asked.header("authorization"), Some("Bearer sk-operator"));
    assert_eq!(asked.header("x-team"), Some("sand"));
    assert_eq!((asked.header("openai-organization"), asked.header("api-key")), (None, None));
}

/// As Azure wants it.
#[tokio::test]
async fn a_key_in_a_configured_header_is_the_operators_too() {
    let echo = "{\"error\":\"no such key: azure-secret\"}";
    let server = Server::start(vec![answer("200 OK", "", ""), answer("401 No", "", echo)]).await;
    let connection = connect(&server, |config| {
        config.headers.insert("api-key", HeaderValue::from_static("azure-secret"));
    });
    let headers = [("authorization", "Bearer sk-client"), ("openai-project", "p"), ("api-key", "k")];
    connection.forward(post("/v1/x", &headers, body_of(""))).await.unwrap();
    let mut client = HeaderMap::new();
    client.insert("authorization", HeaderValue::from_static("Bearer sk-client"));
    let error = connection.models(&Credentials::from_headers(&client)).await.unwrap_err();
    for asked in &server.asked() {
        assert_eq!((asked.header("authorization"), asked.header("openai-project")), (None, None));
        assert_eq!(asked.header("api-key"), Some("azure-secret"));
    }
    assert!(!format!("{error:?} {error}").contains("azure-secret"), "{error:?}");
}

#[tokio::test]
async fn whose_account_it_is_is_told_to_who_has_it_only() {
    let headers = "openai-organization: org\r\nopenai-project: proj\r\nopenai-version: 1\r\n";
    for (key, is_told) in [(None, true), (Some("sk-operator".to_owned()), false)] {
        let server =
            Server::start(vec![answer("200 OK", headers, ""), answer("400 No", headers, "{}")]).await;
        let connection = connect(&server, |config| config.key = key);
        let passed = connection.forward(post("/v1/x", &[], body_of(""))).await.unwrap();
        let error = connection.models(&Credentials::default()).await.unwrap_err();
        let UpstreamError::Status { headers: of_error, .. } = &error else { panic!("{error:?}") };
        for headers in [passed.headers(), &**of_error] {
            assert_eq!(headers["openai-version"], "1");
            assert_eq!(headers.contains_key("openai-organization"), is_told);
            assert_eq!(headers.contains_key("openai-project"), is_told);
        }
    }
}

#[tokio::test]
async fn a_base_with_a_path_and_a_query_keeps_both() {
    let server = Server::start(vec![answer("200 OK", "", ""), answer("200 OK", "", "")]).await;
    let connection = connect(&server, |config| {
        config.base = server.base.replace("/v1", "/openai/v1/?api-version=preview");
    });
    connection.forward(post("/v1/a?b=1", &[], body_of(""))).await.unwrap();
    connection.forward(post("/v12/a", &[], body_of(""))).await.unwrap();
    assert_eq!(server.asked()[0].line(), "POST /openai/v1/a?api-version=preview&b=1 HTTP/1.1");
    assert_eq!(server.asked()[1].line(), "POST /openai/v1/v12/a?api-version=preview HTTP/1.1");
}

#[tokio::test]
async fn no_path_leads_out_of_the_base() {
    let server = Server::start(vec![answer("200 OK", "", "")]).await;
    let connection = connect(&server, |_| {});
    for path in ["/v1/../admin", "/v1/%2e%2E/admin", "/v1/a/..", "/v1/./a", "/v1/..%5c/a", "/.%2e/x"] {
        let outcome = connection.forward(post(path, &[], body_of(""))).await;
        assert!(matches!(outcome, Err(UpstreamError::Unsupported(_))), "{path}");
    }
    assert!(connection.forward(post("/v1/a..b/...", &[("cookie", "a=b")], body_of(""))).await.is_ok());
    assert_eq!(server.asked().len(), 1);
    assert_eq!(server.asked()[0].header("cookie"), None);
}

#[tokio::test]
async fn a_streamed_body_is_streamed_and_its_end_by_force_is_told() {
    let server = Server::start(vec![answer("200 OK", "", "")]).await;
    let connection = connect(&server, |_| {});
    let frames = vec![Ok(Frame::data(Bytes::from("one"))), Ok(Frame::data(Bytes::from("two")))];
    let body = StreamBody::new(stream::iter(frames)).boxed_unsync();
    connection.forward(post("/v1/a", &[], body)).await.unwrap();
    assert_eq!(server.asked()[0].body, b"3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n");

    let frames = vec![Ok(Frame::data(Bytes::from("one"))), Err("hung up".into())];
    let body = StreamBody::new(stream::iter(frames)).boxed_unsync();
    let error = connection.forward(post("/v1/a", &[], body)).await.unwrap_err();
    assert!(matches!(&error, UpstreamError::Broken(text) if text.contains("hung up")), "{error}");
}

#[tokio::test]
async fn an_answer_streams_as_it_comes_and_dropping_it_closes_the_connection() {
    let begun = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\none\r\n".to_vec();
    let mut server = Server::start(vec![Answer::ThenSilence(begun)]).await;
    let connection = connect(&server, |_| {});
    let mut body = connection.forward(post("/v1/a", &[], body_of(""))).await.unwrap().into_body();
    assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap(), "one");
    drop(body);
    server.hang_up().await;
}

#[tokio::test]
async fn nobody_there_is_told_without_the_address() {
    let free = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
    let connection = Connection::new(ConnectionConfig::new(format!("http://{address}/v1"))).unwrap();
    let error = connection.forward(post("/v1/a", &[], body_of(""))).await.unwrap_err();
    let UpstreamError::Unreachable(text) = &error else { panic!("{error:?}") };
    assert!(text.contains("refused") && !text.contains(&address.port().to_string()), "{text}");
}

#[tokio::test]
async fn a_handshake_that_hangs_is_given_up_in_time() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut config = ConnectionConfig::new(format!("https://{}/v1", silent.local_addr().unwrap()));
    config.connect_timeout = Duration::from_millis(100);
    let connection = Connection::new(config).unwrap();
    let error = connection.forward(post("/v1/a", &[], body_of(""))).await.unwrap_err();
    assert!(matches!(&error, UpstreamError::Unreachable(text) if text.contains("100 ms")), "{error}");
}

#[tokio::test]
async fn a_key_is_never_shown() {
    let key = "sk-operator-secret";
    let echo = format!("{{\"error\":{{\"message\":\"Incorrect API key provided: {key}.\"}}}}");
    let server = Server::start(vec![answer("401 Unauthorized", "", &echo)]).await;
    let mut config = ConnectionConfig::new(&server.base);
    config.key = Some(format!(" {key}\n"));
    config.headers.insert("api-key", HeaderValue::from_static("sk-operator-secret"));
    let printed = format!("{config:?}");
    let connection = Connection::new(config).unwrap();
    let mut client = HeaderMap::new();
    client.insert("authorization", HeaderValue::from_static("Bearer sk-client"));
    let credentials = Credentials::from_headers(&client);
    let error = connection.models(&credentials).await.unwrap_err();
    assert_eq!(server.asked()[0].header("authorization"), Some("Bearer sk-operator-secret"));
    let printed = format!("{printed} {connection:?} {error:?} {error} {:?}", error.said());
    assert!(!printed.contains(key), "{printed}");
    assert!(printed.contains("Incorrect API key provided: …."), "{printed}");
}

#[test]
fn an_address_that_cannot_be_used_is_refused() {
    for base in ["", "api.example.com/v1", "ftp://a/v1", "https://user:secret@a/v1", "http://"] {
        let error = Connection::new(ConnectionConfig::new(base)).unwrap_err();
        assert!(matches!(error, InvalidConnection::Address), "{base}");
    }
    let mut config = ConnectionConfig::new("http://a/v1");
    config.key = Some("a\nb".to_owned());
    assert!(matches!(Connection::new(config), Err(InvalidConnection::Key)));
}

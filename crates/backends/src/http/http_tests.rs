//! Servers that are slow, endless, talkative or lying: what comes of them is bounded and clear.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use http::{HeaderName, Method, StatusCode};
use sandgate_core::Secret;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::tungstenite::Message;

use super::{Address, Call, Form, HttpClient, HttpError, Part, is_host, path_segment};
use crate::{Deadlines, ProviderError, Reach};

const KEY: &str = "key-that-nobody-may-see";
const JSON_HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";

/// Each connection, numbered from 0, is given to `serve` after the head of its first request was read.
async fn server<F>(serve: impl Fn(usize, TcpStream) -> F + Send + 'static) -> (Address, Arc<AtomicUsize>)
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = Address::parse(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
    let count = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&count);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            read_head(&mut stream).await;
            tokio::spawn(serve(counter.fetch_add(1, Ordering::SeqCst), stream));
        }
    });
    (address, count)
}

async fn read_head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.windows(4).any(|four| four == b"\r\n\r\n") {
        if stream.read_buf(&mut head).await.unwrap_or(0) == 0 {
            break;
        }
    }
    String::from_utf8_lossy(&head).into_owned()
}

/// Says this and closes.
async fn saying(text: String) -> (Address, Arc<AtomicUsize>) {
    server(move |_, mut stream| {
        let text = text.clone();
        async move {
            let _ = stream.write_all(text.as_bytes()).await;
        }
    })
    .await
}

fn client() -> HttpClient {
    let deadlines = Deadlines {
        connect: Duration::from_secs(5),
        answer: Duration::from_millis(300),
        ..Deadlines::default()
    };
    HttpClient::new(&deadlines, &Reach::default()).unwrap()
}

fn get(address: &Address) -> Call {
    asking(Method::GET, address)
}

fn asking(method: Method, address: &Address) -> Call {
    let call = Call::new(method, address, "/x", &[]).unwrap();
    call.secret(HeaderName::from_static("x-api-key"), &Secret::new(KEY.to_owned())).unwrap()
}

async fn json(address: &Address, limit: usize) -> Result<Value, HttpError> {
    client().demand(get(address)).await?.json(limit).await
}

#[tokio::test]
async fn an_answer_that_is_too_long_is_refused() {
    let body = "x".repeat(5000);
    let (address, _) = saying(format!("{JSON_HEAD}content-length: {}\r\n\r\n{body}", body.len())).await;
    assert_eq!(json(&address, 1000).await, Err(HttpError::TooLong { what: "the answer", limit: 1000 }));
}

#[tokio::test]
async fn an_endless_answer_is_refused() {
    let (address, _) = server(|_, mut stream| async move {
        let _ = stream.write_all(format!("{JSON_HEAD}transfer-encoding: chunked\r\n\r\n").as_bytes()).await;
        let chunk = format!("10000\r\n{}\r\n", "[".repeat(0x10000));
        while stream.write_all(chunk.as_bytes()).await.is_ok() {}
    })
    .await;
    assert!(matches!(json(&address, 1 << 20).await, Err(HttpError::TooLong { .. })));
}

#[tokio::test]
async fn garbage_and_other_kinds_are_told_apart() {
    let (address, _) = saying(format!("{JSON_HEAD}content-length: 4\r\n\r\n{{]}}!")).await;
    let Err(HttpError::Unreadable(said)) = json(&address, 100).await else { panic!() };
    assert!(said.contains("not JSON"), "{said}");
    let page = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 2\r\n\r\n{}";
    let Err(HttpError::Unreadable(said)) = json(&saying(page.to_owned()).await.0, 100).await else {
        panic!()
    };
    assert!(said.contains("text/html"), "{said}");
    let (address, _) = saying("hello, this is no HTTP\r\n\r\n".to_owned()).await;
    assert!(matches!(json(&address, 100).await, Err(HttpError::Broken(_))));
}

#[tokio::test]
async fn silence_and_a_trickle_have_an_end() {
    let (address, _) = server(|_, mut stream| async move {
        let _ = stream.read(&mut [0; 1]).await;
    })
    .await;
    assert!(matches!(json(&address, 100).await, Err(HttpError::Silent { .. })));
    let (address, _) = server(|_, mut stream| async move {
        let _ = stream.write_all(format!("{JSON_HEAD}content-length: 1000000\r\n\r\n").as_bytes()).await;
        while stream.write_all(b" ").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
    .await;
    assert!(matches!(json(&address, 1 << 20).await, Err(HttpError::Silent { .. })));
}

#[tokio::test]
async fn a_line_that_does_not_end_is_refused() {
    let (address, _) = server(|_, mut stream| async move {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n{\"a\":1}\n\n \n{\"b\":2}\n").await;
        let long = vec![b'x'; 64 << 10];
        while stream.write_all(&long).await.is_ok() {}
    })
    .await;
    let mut lines = client().demand(get(&address)).await.unwrap().lines(100_000);
    assert_eq!(lines.next().await.unwrap().unwrap(), &b"{\"a\":1}"[..]);
    assert_eq!(lines.next().await.unwrap().unwrap(), &b"{\"b\":2}"[..]);
    assert!(matches!(lines.next().await, Err(HttpError::TooLong { .. })));
}

#[tokio::test]
async fn a_message_of_a_websocket_that_is_too_long_is_too_much_output() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = Address::parse(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let mut socket = tokio_tungstenite::accept_async(stream).await.unwrap();
        let _ = socket.send(Message::text("x".repeat(2000))).await;
        let _ = socket.next().await;
    });
    let mut socket = client().websocket(&address, "/x", &http::HeaderMap::new(), 1000).await.unwrap();
    let error = socket.next().await.unwrap_err();
    assert_eq!(error, HttpError::TooLong { what: "a message", limit: 1000 });
    assert!(matches!(super::of_output(error), ProviderError::TooLarge { limit: 1000, .. }));
}

#[tokio::test]
async fn a_secret_that_comes_back_is_hidden() {
    let body = format!(r#"{{"code":"NO","message":"bad key {KEY}\u0000\n"}}"#);
    let head = format!(
        "HTTP/1.1 401 Unauthorized\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let (address, _) = saying(head + &body).await;
    let error = client().demand(get(&address)).await.unwrap_err();
    assert_eq!((error.status(), error.code()), (Some(StatusCode::UNAUTHORIZED), Some("NO")));
    let said = format!("{error:?} {error}");
    assert!(!said.contains(KEY) && said.contains("bad key …"), "{said}");
    assert!(matches!(ProviderError::from(error), ProviderError::Unauthorized(_)));
    assert!(!format!("{:?}", get(&address)).contains(KEY));
}

#[tokio::test]
async fn no_redirect_is_followed() {
    let (elsewhere, visits) = saying(format!("{JSON_HEAD}content-length: 2\r\n\r\n{{}}")).await;
    let head =
        format!("HTTP/1.1 307 Temporary Redirect\r\nlocation: {elsewhere}/x\r\ncontent-length: 0\r\n\r\n");
    let (address, _) = saying(head).await;
    let error = client().demand(get(&address)).await.unwrap_err();
    assert!(matches!(ProviderError::from(error), ProviderError::Garbage(_)));
    assert_eq!(visits.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn only_what_can_be_repeated_is() {
    let unwell = "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    for (method, tries) in [(Method::GET, 3), (Method::DELETE, 3), (Method::POST, 1)] {
        let (address, asked) = saying(unwell.to_owned()).await;
        let error = client().demand(asking(method.clone(), &address)).await.unwrap_err();
        assert_eq!(error.status(), Some(StatusCode::SERVICE_UNAVAILABLE));
        assert_eq!(asked.load(Ordering::SeqCst), tries, "{method}");
    }
    // The connection ends before an answer: who knows what has happened.
    for (method, tries) in [(Method::GET, 3), (Method::POST, 1)] {
        let (address, asked) = server(|_, stream| async move { drop(stream) }).await;
        assert!(matches!(client().demand(asking(method.clone(), &address)).await, Err(HttpError::Broken(_))));
        assert_eq!(asked.load(Ordering::SeqCst), tries, "{method}");
    }
}

#[tokio::test]
async fn who_is_asked_to_wait_a_moment_waits() {
    let (address, asked) = server(|number, mut stream| async move {
        let answer = match number {
            0 => "HTTP/1.1 429 Too Many Requests\r\nretry-after: 0\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_owned(),
            _ => format!("{JSON_HEAD}content-length: 2\r\n\r\n{{}}"),
        };
        let _ = stream.write_all(answer.as_bytes()).await;
    })
    .await;
    client().demand(asking(Method::POST, &address)).await.unwrap();
    assert_eq!(asked.load(Ordering::SeqCst), 2);
    // For long, nobody waits; who asked is told for how long.
    let long = "HTTP/1.1 429 Too Many Requests\r\nretry-after: 60\r\ncontent-length: 0\r\n\r\n".to_owned();
    let error = client().demand(get(&saying(long).await.0)).await.unwrap_err();
    let ProviderError::RateLimited { retry_after, .. } = error.into() else { panic!() };
    assert_eq!(retry_after, Some(Duration::from_secs(60)));
}

#[tokio::test]
async fn nobody_there_is_unreachable() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = Address::parse(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
    drop(listener);
    let error = client().demand(asking(Method::POST, &address)).await.unwrap_err();
    assert!(matches!(error, HttpError::Unreachable(_)), "{error}");
}

#[tokio::test]
async fn an_upload_is_as_long_as_was_said() {
    for (said, is_good) in [(5, true), (4, false), (6, false)] {
        let (address, _) = server(|_, mut stream| async move {
            let mut body = Vec::new();
            while !body.ends_with(b"--\r\n") && stream.read_buf(&mut body).await.unwrap_or(0) > 0 {}
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
        })
        .await;
        let part = Part { name: "file", filename: Some("a\"b"), kind: None };
        let content = Box::new(&b"hello"[..]);
        let sent = client().upload(asking(Method::POST, &address), Form::new(), &part, content, said).await;
        assert_eq!(sent.is_ok(), is_good, "{said}: {sent:?}");
    }
}

#[test]
fn addresses_and_names_are_what_they_seem() {
    for good in ["http://h", "https://h:1/p/", "http://[::1]:80/x"] {
        assert!(Address::parse(good).is_ok(), "{good}");
    }
    for bad in ["h", "ftp://h", "http://u:p@h", "http://h?q", "http://h/#f", "http://", ""] {
        assert!(Address::parse(bad).is_err(), "{bad}");
    }
    assert_eq!(path_segment("../a b"), "%2E%2E%2Fa%20b");
    assert_eq!(path_segment("a.b"), "a.b");
    assert_eq!(path_segment(".."), "%2E%2E");
    for (host, is_one) in
        [("e2b.app", true), ("a.b:80", true), ("a..b", false), ("a/b", false), ("a@b", false), ("", false)]
    {
        assert_eq!(is_host(host), is_one, "{host}");
    }
}

#[test]
fn a_place_that_a_provider_gave_hides_no_less_than_the_provider() {
    let plain = Address::parse("http://api.test:8080/v1").unwrap();
    let secure = Address::parse("https://api.test/v1").unwrap();
    let at = |from: &Address, place: &str| from.beside(place).map(|found| found.to_string()).ok();
    assert_eq!(at(&plain, "10.0.0.1:4000/proxy/44772").unwrap(), "http://10.0.0.1:4000/proxy/44772");
    assert_eq!(at(&secure, "gate.test/x").unwrap(), "https://gate.test/x");
    assert_eq!(at(&plain, "https://gate.test/x/").unwrap(), "https://gate.test/x");
    for bad in ["http://gate.test", "ftp://gate.test", "user@gate.test", "gate.test?a=b", ""] {
        assert_eq!(at(&secure, bad), None, "{bad}");
    }
}

#[test]
fn addresses_of_this_machine_are_known() {
    let is = |text: &str| Address::parse(text).unwrap().is_of_this_machine();
    for own in [
        "http://127.0.0.1:80",
        "http://169.254.169.254/latest",
        "http://[::1]:1",
        "http://localhost",
        "http://a.localhost",
        "http://0.0.0.0",
        "http://[::ffff:127.0.0.1]",
    ] {
        assert!(is(own), "{own}");
    }
    for other in ["http://10.0.0.5", "https://example.com", "http://[2001:db8::1]", "http://notlocalhost"] {
        assert!(!is(other), "{other}");
    }
}

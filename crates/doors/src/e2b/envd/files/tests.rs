//! `/files` as clients use it, over a plain folder.

use std::io;

use async_compression::tokio::bufread::GzipEncoder;
use axum::body::Body;
use bytes::Bytes;
use futures_util::stream;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;

use super::super::double::{Place, place, request};

const RAW: &str = "content-type: application/octet-stream";

async fn post(place: &Place, head: &str, body: impl Into<Body>) -> (u16, Value) {
    let (status, _, body) = place.ask(&format!("POST {head}"), body).await;
    (status, serde_json::from_slice(&body).unwrap())
}

async fn get(place: &Place, path: &str) -> (u16, Vec<u8>) {
    let (status, _, body) = place.ask(&format!("GET /files?path={path}"), "").await;
    (status, body)
}

fn form(parts: &[(&str, &str, &str)]) -> String {
    let mut body = String::new();
    for (name, filename, content) in parts {
        body.push_str(&format!(
            "--b\r\nContent-Disposition: form-data; name=\"{name}\"; filename=\"{filename}\"\r\nContent-Type: text/plain\r\n\r\n{content}\r\n"
        ));
    }
    body + "--b--\r\n"
}

const FORM: &str = "content-type: multipart/form-data; boundary=b";

#[tokio::test]
async fn a_form_with_one_file_and_a_path() {
    let place = place().await;
    let head = format!("/files?path=%2Fhome%2Fuser%2Fa.txt\n{FORM}");
    let answer = post(&place, &head, form(&[("file", "/elsewhere", "hello ž")])).await;
    let told = json!([{ "path": "/home/user/a.txt", "name": "a.txt", "type": "file" }]);
    assert_eq!(answer, (200, told));
    assert_eq!(get(&place, "a.txt").await, (200, "hello ž".into()));
    assert_eq!(get(&place, "/elsewhere").await.0, 404);
}

#[tokio::test]
async fn a_form_with_many_files() {
    let place = place().await;
    let parts = [
        ("file", "d/b.txt", "b"),
        ("other", "no", "x"),
        ("file", "/tmp/c %22.bin", ""),
        ("file", "~/e", "e"),
    ];
    let (status, told) = post(&place, &format!("/files\n{FORM}"), form(&parts)).await;
    assert_eq!(status, 200);
    let paths: Vec<_> =
        told.as_array().unwrap().iter().map(|entry| entry["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["/home/user/d/b.txt", "/tmp/c \".bin", "/home/user/e"]);
    assert_eq!(get(&place, "d/b.txt").await, (200, b"b".to_vec()));
}

#[tokio::test]
async fn one_path_twice_in_a_form_is_refused() {
    let place = place().await;
    let parts = [("file", "a", "first"), ("file", "/home/user/a", "second")];
    let (status, told) = post(&place, &format!("/files\n{FORM}"), form(&parts)).await;
    assert_eq!((status, &told["code"]), (400, &json!(400)));
    assert!(told["message"].as_str().unwrap().contains("same path '/home/user/a'"));
    assert_eq!(get(&place, "a").await, (200, b"first".to_vec()));
}

#[tokio::test]
async fn forms_that_break_off_or_have_no_end_of_headers_are_refused() {
    let place = place().await;
    let broken = form(&[("file", "a", "hello")]).replace("\r\n--b--\r\n", "");
    assert_eq!(post(&place, &format!("/files\n{FORM}"), broken).await.0, 400);
    assert_eq!(get(&place, "a").await.0, 404);
    let endless = format!("--b\r\nx: {}", "x".repeat(1 << 20));
    assert_eq!(post(&place, &format!("/files\n{FORM}"), endless).await.0, 400);
    assert_eq!(post(&place, "/files\ncontent-type: multipart/form-data", "").await.0, 400);
    let nameless = form(&[("file", "", "x")]);
    assert_eq!(post(&place, &format!("/files\n{FORM}"), nameless).await.0, 400);
}

#[tokio::test]
async fn raw_bodies_need_a_path_and_their_type() {
    let place = place().await;
    assert_eq!(post(&place, &format!("/files?path=/tmp/o\n{RAW}"), "x").await.0, 200);
    for head in [format!("/files\n{RAW}"), "/files?path=/tmp/o\ncontent-type: text/plain".to_owned()] {
        let (status, told) = post(&place, &head, "x").await;
        assert_eq!((status, &told["code"]), (400, &json!(400)));
    }
    let (status, told) = post(&place, &format!("/files?path=/tmp\n{RAW}"), "x").await;
    assert_eq!((status, told["message"].as_str()), (400, Some("path '/tmp' is a directory")));
}

#[tokio::test]
async fn packed_bodies_are_unpacked() {
    let place = place().await;
    let mut packed = Vec::new();
    GzipEncoder::new(&b"hello packed"[..]).read_to_end(&mut packed).await.unwrap();
    let head = format!("/files?path=/tmp/z\n{RAW}\ncontent-encoding: gzip");
    assert_eq!(post(&place, &head, packed.clone()).await.0, 200);
    assert_eq!(get(&place, "/tmp/z").await, (200, b"hello packed".to_vec()));
    let mut whole = Vec::new();
    let body = form(&[("file", "f", "in a form")]);
    GzipEncoder::new(body.as_bytes()).read_to_end(&mut whole).await.unwrap();
    assert_eq!(post(&place, &format!("/files\n{FORM}\ncontent-encoding: gzip"), whole).await.0, 200);
    assert_eq!(get(&place, "f").await, (200, b"in a form".to_vec()));
    for wrong in [b"not packed".to_vec(), packed[..packed.len() - 4].to_vec()] {
        let (status, told) = post(&place, &head, wrong).await;
        assert_eq!(status, 400, "{told}");
        assert!(told["message"].as_str().unwrap().starts_with("the body cannot be read"), "{told}");
    }
    let other = format!("/files?path=/tmp/z\n{RAW}\ncontent-encoding: br");
    assert_eq!(post(&place, &other, "x").await.0, 400);
}

/// 4 MiB is all there is in this sandbox.
#[tokio::test]
async fn too_much_is_refused_before_it_is_sent_or_as_it_comes() {
    let place = place().await;
    let announced = format!("/files?path=/tmp/big\n{RAW}\ncontent-length: 5368709120");
    let never = stream::pending::<io::Result<Bytes>>();
    let (status, told) = post(&place, &announced, Body::from_stream(never)).await;
    assert_eq!((status, &told["code"]), (507, &json!(507)));
    assert!(told["message"].as_str().unwrap().contains("not enough disk space"), "{told}");
    let endless = stream::repeat_with(|| Ok::<_, io::Error>(Bytes::from_static(&[0; 65536])));
    let head = format!("/files?path=/tmp/big\n{RAW}");
    assert_eq!(post(&place, &head, Body::from_stream(endless)).await.0, 507);
    // A little that unpacks to a lot.
    let mut bomb = Vec::new();
    GzipEncoder::new(&vec![0; 8 << 20][..]).read_to_end(&mut bomb).await.unwrap();
    assert_eq!(post(&place, &format!("{head}\ncontent-encoding: gzip"), bomb).await.0, 507);
    assert_eq!(get(&place, "/tmp/big").await.0, 404);
}

#[tokio::test]
async fn an_upload_that_breaks_off_is_the_clients_fault() {
    let place = place().await;
    let pieces = [Ok(Bytes::from_static(b"half")), Err(io::Error::other("the line went dead"))];
    let (status, told) =
        post(&place, &format!("/files?path=/tmp/half\n{RAW}"), Body::from_stream(stream::iter(pieces))).await;
    assert_eq!(
        (status, told["message"].as_str()),
        (400, Some("the body cannot be read: the line went dead"))
    );
}

#[tokio::test]
async fn metadata_is_kept_told_and_replaced() {
    let place = place().await;
    let head = format!("/files?path=/tmp/m\n{RAW}\nx-metadata-author: ana");
    let (_, told) = post(&place, &head, "x").await;
    assert_eq!(told[0]["metadata"], json!({ "author": "ana" }));
    let stat = async || place.call("filesystem.Filesystem/Stat", &json!({ "path": "/tmp/m" })).await.1;
    assert_eq!(stat().await["entry"]["metadata"], json!({ "author": "ana" }));
    let (_, told) = post(&place, &format!("/files?path=/tmp/m\n{RAW}"), "x").await;
    assert!(told[0].get("metadata").is_none());
    assert!(stat().await["entry"].get("metadata").is_none());
}

#[tokio::test]
async fn downloads_say_what_they_are() {
    let place = place().await;
    place.write("a.html", "0123456789").await;
    let (status, headers, body) = place.ask("GET /files?path=a.html", "").await;
    assert_eq!(
        (status, &body[..], &headers["content-length"]),
        (200, &b"0123456789"[..], &"10".parse().unwrap())
    );
    assert_eq!(headers["content-type"], "application/octet-stream");
    assert_eq!(headers["content-disposition"], "inline; filename=\"a.html\"; filename*=UTF-8''a.html");
    let etag = headers["etag"].to_str().unwrap();
    let (status, _, body) = place.ask(&format!("GET /files?path=a.html\nif-none-match: {etag}"), "").await;
    assert_eq!((status, body.len()), (304, 0));
    let (status, headers, body) = place.ask("GET /files?path=a.html\nrange: bytes=2-4", "").await;
    assert_eq!(
        (status, &body[..], &headers["content-range"]),
        (206, &b"234"[..], &"bytes 2-4/10".parse().unwrap())
    );
    let (status, headers, _) = place.ask("GET /files?path=a.html\nrange: bytes=10-", "").await;
    assert_eq!((status, &headers["content-range"]), (416, &"bytes */10".parse().unwrap()));
    let stale = "GET /files?path=a.html\nrange: bytes=2-4\nif-range: \"old\"";
    assert_eq!(place.ask(stale, "").await.0, 200);
    let (status, headers, body) = place.ask("HEAD /files?path=a.html", "").await;
    assert_eq!((status, body.len(), &headers["content-length"]), (200, 0, &"10".parse().unwrap()));
}

#[tokio::test]
async fn an_empty_file_has_the_length_zero() {
    let place = place().await;
    place.write("empty", "").await;
    let (status, headers, body) = place.ask("GET /files?path=empty", "").await;
    assert_eq!((status, body.len(), &headers["content-length"]), (200, 0, &"0".parse().unwrap()));
}

#[tokio::test]
async fn refused_downloads_say_why() {
    let place = place().await;
    let rows = [
        ("path=/none", 404, "path '/none' does not exist"),
        ("path=/tmp", 400, "path '/tmp' is a directory"),
        ("", 400, "path '/home/user' is a directory"),
        ("path=/none&username=root", 401, "no root"),
        ("path=~ana/x", 400, "one's own"),
    ];
    for (query, status, message) in rows {
        let (got, _, body) = place.ask(&format!("GET /files?{query}"), "").await;
        let told: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!((got, &told["code"]), (status, &json!(status)), "{query}");
        assert!(told["message"].as_str().unwrap().contains(message), "{told}");
    }
    place.kill().await;
    let (status, _, body) = place.ask("GET /files?path=/tmp/x", "").await;
    let told: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(
        (status, &told),
        (502, &json!({ "sandboxId": "i1234", "message": "The sandbox was not found", "code": 502 }))
    );
}

#[tokio::test]
async fn of_a_path_given_twice_the_last_counts() {
    let place = place().await;
    place.write("/tmp/first", "1").await;
    place.write("/tmp/last", "2").await;
    assert_eq!(place.ask("GET /files?path=/tmp/first&path=/tmp/last", "").await.2, b"2");
}

#[tokio::test]
async fn files_are_composed_into_one() {
    let place = place().await;
    place.write("/tmp/a", "one ").await;
    place.write("/tmp/b", "two").await;
    let compose = async |ask: Value| {
        post(&place, "/files/compose\ncontent-type: application/json", ask.to_string()).await
    };
    let wrong = [
        (json!({ "source_paths": [], "destination": "x" }), 400),
        (json!({ "source_paths": ["/tmp/a"] }), 400),
        (json!({ "source_paths": ["/tmp/a"], "destination": "/tmp/a" }), 400),
        (json!({ "source_paths": ["/tmp"], "destination": "x" }), 400),
        (json!({ "source_paths": ["/tmp/none"], "destination": "x" }), 404),
        (json!({ "source_paths": ["/tmp/a"], "destination": "x", "username": "root" }), 401),
    ];
    for (ask, status) in wrong {
        assert_eq!(compose(ask.clone()).await.0, status, "{ask}");
    }
    let (status, told) =
        compose(json!({ "source_paths": ["/tmp/a", "/tmp/b"], "destination": "new/c" })).await;
    assert_eq!((status, told), (200, json!({ "path": "/home/user/new/c", "name": "c", "type": "file" })));
    assert_eq!(get(&place, "new/c").await, (200, b"one two".to_vec()));
    assert_eq!(get(&place, "/tmp/a").await.0, 404);
    let (_, listed) = place.call("filesystem.Filesystem/ListDir", &json!({ "path": "new" })).await;
    assert_eq!(listed["entries"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn variables_and_use_are_told() {
    let place = place().await;
    assert_eq!(place.ask("GET /envs", "").await.2, br#"{"FOO":"bar"}"#);
    let (status, _, body) = place.ask("GET /metrics", "").await;
    let told: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!((status, &told["cpu_count"], &told["disk_total"]), (200, &json!(1), &json!(4 << 20)));
    assert_eq!(place.send(request("GET /health", "")).await.status(), 204);
}

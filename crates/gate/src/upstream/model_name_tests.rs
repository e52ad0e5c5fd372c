//! A model's name is found and replaced where it stands, and nothing else changes.

use super::*;

fn headers(kind: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, kind.parse().unwrap());
    headers
}

fn swap(kind: &str, body: &str, name: &str) -> Option<(String, String)> {
    let body = Bytes::from(body.to_owned());
    match peek(&headers(kind), &body) {
        Peeked::Found(found) => {
            let new = replaced(&body, &found, name);
            Some((found.name, String::from_utf8(new.to_vec()).unwrap()))
        }
        Peeked::Absent | Peeked::Unclear => None,
    }
}

#[test]
fn json_keeps_every_other_byte() {
    let body = r#"{ "input": {"model":"inner"},  "model" : "gpt\u002d5" , "n":1.0 }"#;
    let (name, new) = swap("application/json", body, "other \"one\"").unwrap();
    assert_eq!(name, "gpt-5");
    assert_eq!(new, r#"{ "input": {"model":"inner"},  "model" : "other \"one\"" , "n":1.0 }"#);
}

#[test]
fn what_can_be_read_in_two_ways_is_unclear() {
    let json = headers("application/json; charset=utf-8");
    for body in [r#"{"model":"a","model":"b"}"#, r#"{"model":5}"#, r#"{"model":"a"#, "[1]"] {
        assert_eq!(peek(&json, body.as_bytes()), Peeked::Unclear, "{body}");
    }
    for body in [r#"{"a":1}"#, r#"{"model":null}"#, ""] {
        assert_eq!(peek(&json, body.as_bytes()), Peeked::Absent, "{body}");
    }
    assert_eq!(peek(&headers("audio/wav"), b"RIFF"), Peeked::Absent);
}

#[test]
fn a_form_has_its_model_in_a_field() {
    let form = |fields: &[(&str, &str)]| {
        let mut text = String::new();
        for (name, value) in fields {
            text += &format!("--XX\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
        }
        text + "--XX--\r\n"
    };
    let kind = "multipart/form-data; boundary=XX";
    let (name, new) =
        swap(kind, &form(&[("file", "model"), ("model", "whisper-1"), ("n", "2")]), "w").unwrap();
    assert_eq!(name, "whisper-1");
    assert_eq!(new, form(&[("file", "model"), ("model", "w"), ("n", "2")]));
    let hidden = "--XX\r\ncontent-disposition: form-data; name=\"model\"\r\n\r\nother";
    let (name, _) = swap(kind, &form(&[("file", &format!("x{hidden}")), ("model", "a")]), "w").unwrap();
    assert_eq!(name, "a");
    assert!(swap(kind, &form(&[("model", "a"), ("model", "b")]), "w").is_none());
    assert!(swap(kind, &form(&[("file", "x")]), "w").is_none());
    assert!(swap("multipart/form-data", &form(&[("model", "a")]), "w").is_none());
}

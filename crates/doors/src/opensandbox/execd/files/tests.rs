//! Files as a client meets them, in plain folders.

use serde_json::{Value, json};

use super::super::double::{World, local};

fn form(pairs: &[(Value, &str)]) -> String {
    let mut body = String::new();
    for (metadata, content) in pairs {
        body += &format!(
            "--b\r\nContent-Disposition: form-data; name=\"metadata\"; filename=\"metadata\"\r\n\
             Content-Type: application/json\r\n\r\n{metadata}\r\n\
             --b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f\"\r\n\
             Content-Type: application/octet-stream\r\n\r\n{content}\r\n"
        );
    }
    body + "--b--\r\n"
}

const UPLOAD: &str = "POST /files/upload\ncontent-type: multipart/form-data; boundary=b";

async fn upload(world: &World, path: &str, content: &str) {
    let (status, _, said) = world.ask(UPLOAD, form(&[(json!({ "path": path }), content)])).await;
    assert_eq!(status, 200, "{}", String::from_utf8_lossy(&said));
}

async fn content(world: &World, path: &str) -> String {
    let (status, _, body) = world.ask(&format!("GET /files/download?path={path}"), "").await;
    assert_eq!(status, 200);
    String::from_utf8(body).unwrap()
}

#[tokio::test]
async fn files_go_in_with_their_modes_and_come_out() {
    let world = local().await;
    let pairs = [
        (json!({"path": "/tmp/new/a.sh", "mode": 755}), "one"),
        (json!({"path": "b.txt", "mode": 600, "owner": "user"}), "two\n"),
    ];
    let (status, headers, _) = world.ask(UPLOAD, form(&pairs)).await;
    assert_eq!((status, &headers["content-length"]), (200, &"0".parse().unwrap()));
    assert_eq!(content(&world, "b.txt").await, "two\n", "a relative path starts where the sandbox works");
    let (status, info) = world.json("GET /files/info?path=/tmp/new/a.sh&path=b.txt", &Value::Null).await;
    assert_eq!(status, 200);
    let first = &info["/tmp/new/a.sh"];
    assert_eq!((&first["mode"], &first["size"], &first["type"]), (&json!(755), &json!(3), &json!("file")));
    assert_eq!(info["b.txt"]["mode"], 600);
    assert_eq!(info["b.txt"]["path"], "/mnt/data/b.txt");
    for name in ["modified_at", "created_at", "owner", "group"] {
        assert!(first[name].is_string(), "{name}");
    }
    let (status, body) = world.json("GET /files/info?path=/no", &Value::Null).await;
    assert_eq!((status, &body["code"]), (404, &json!("FILE_NOT_FOUND")));
}

#[tokio::test]
async fn a_form_that_is_not_whole_is_refused() {
    let world = local().await;
    let part = |name: &str, text: &str| {
        format!("--b\r\nContent-Disposition: form-data; name=\"{name}\"; filename=\"x\"\r\n\r\n{text}\r\n")
    };
    let rows = [
        (part("file", "x"), "INVALID_FILE_METADATA"),
        (part("metadata", r#"{"path":"/tmp/x"}"#), "INVALID_FILE_CONTENT"),
        (part("metadata", "no json") + &part("file", "x"), "INVALID_FILE_METADATA"),
        (part("metadata", "{}") + &part("file", "x"), "INVALID_FILE_METADATA"),
        (part("metadata", r#"{"path":"/tmp/x","owner":"root"}"#) + &part("file", "x"), "NOT_SUPPORTED"),
        (part("metadata", r#"{"path":"/tmp/x","mode":999}"#) + &part("file", "x"), "INVALID_REQUEST_BODY"),
    ];
    for (body, code) in rows {
        let (status, _, said) = world.ask(UPLOAD, body + "--b--\r\n").await;
        let said: Value = serde_json::from_slice(&said).unwrap();
        assert_eq!((status, &said["code"]), (400, &json!(code)), "{said}");
    }
    assert_eq!(world.json("GET /files/info?path=/tmp/x", &Value::Null).await.0, 404);
    let (status, _, _) = world.ask("POST /files/upload\ncontent-type: text/plain", "x").await;
    assert_eq!(status, 400);
}

#[tokio::test]
async fn some_bytes_or_some_lines_can_be_had() {
    let world = local().await;
    upload(&world, "/tmp/t", "one\ntwo\nthree\nfour").await;
    let (status, headers, body) = world.ask("GET /files/download?path=/tmp/t\nrange: bytes=4-6", "").await;
    assert_eq!(
        (status, body.as_slice(), &headers["content-range"]),
        (206, &b"two"[..], &"bytes 4-6/18".parse().unwrap())
    );
    assert!(headers["content-disposition"].to_str().unwrap().starts_with("attachment"));
    assert_eq!(world.ask("GET /files/download?path=/tmp/t\nrange: bytes=99-", "").await.0, 416);
    let lines = async |query: &str| {
        let (status, headers, body) =
            world.ask(&format!("GET /files/download?path=/tmp/t&{query}"), "").await;
        assert!(status != 200 || headers["content-type"] == "text/plain");
        (status, String::from_utf8(body).unwrap())
    };
    assert_eq!(lines("offset=2&limit=2").await, (200, "two\nthree\n".to_owned()));
    assert_eq!(lines("offset=4&limit=9").await, (200, "four".to_owned()));
    assert_eq!(lines("offset=9&limit=1").await, (200, String::new()));
    for wrong in ["offset=1", "limit=1", "offset=0&limit=1", "offset=1&limit=x"] {
        assert_eq!(lines(wrong).await.0, 400, "{wrong}");
    }
    let both = "GET /files/download?path=/tmp/t&offset=1&limit=1\nrange: bytes=0-1";
    assert_eq!(world.ask(both, "").await.0, 400);
    assert_eq!(world.json("GET /files/download", &Value::Null).await.1["code"], "MISSING_QUERY");
    assert_eq!(
        world.json("GET /files/download?path=/tmp/no", &Value::Null).await.1["code"],
        "FILE_NOT_FOUND"
    );
}

#[tokio::test]
async fn files_are_moved_changed_searched_and_removed() {
    let world = local().await;
    upload(&world, "/tmp/d/a.txt", "host: localhost, localhost").await;
    upload(&world, "/tmp/d/sub/b.txt", "x").await;
    upload(&world, "/tmp/d/c.py", "x").await;
    let replace = json!({"/tmp/d/a.txt": {"old": "localhost", "new": "0.0.0.0"}});
    let (status, counts) = world.json("POST /files/replace?verbose=true", &replace).await;
    assert_eq!((status, counts), (200, json!({"/tmp/d/a.txt": {"replacedCount": 2}})));
    assert_eq!(content(&world, "/tmp/d/a.txt").await, "host: 0.0.0.0, 0.0.0.0");
    assert_eq!(world.json("POST /files/replace", &replace).await, (200, Value::Null));
    assert_eq!(
        world.json("POST /files/replace", &json!({"/tmp/d/a.txt": {"old": "", "new": "x"}})).await.0,
        400
    );
    let mode = json!({"/tmp/d/a.txt": {"mode": 640}});
    assert_eq!(world.json("POST /files/permissions", &mode).await, (200, Value::Null));
    let wrong = json!({"/tmp/d/a.txt": {"mode": 600}, "/tmp/d/c.py": {"mode": 600, "owner": "nobody"}});
    assert_eq!(world.json("POST /files/permissions", &wrong).await.0, 400);
    let (_, info) = world.json("GET /files/info?path=/tmp/d/a.txt", &Value::Null).await;
    assert_eq!(info["/tmp/d/a.txt"]["mode"], 640, "all or nothing");
    let found = async |query: &str| {
        let (status, found) =
            world.json(&format!("GET /files/search?path=/tmp/d{query}"), &Value::Null).await;
        assert_eq!(status, 200);
        let paths = found.as_array().unwrap().iter().map(|info| info["path"].as_str().unwrap().to_owned());
        paths.collect::<Vec<_>>()
    };
    assert_eq!(found("&pattern=*.txt").await, ["/tmp/d/a.txt", "/tmp/d/sub/b.txt"]);
    assert_eq!(found("&pattern=*.%7Bpy,rs%7D").await, ["/tmp/d/c.py"]);
    assert_eq!(found("").await.len(), 3);
    assert_eq!(world.json("GET /files/search?path=/no", &Value::Null).await.0, 404);
    let moves = json!([{"src": "/tmp/d/c.py", "dest": "/tmp/e/f/c.py"}]);
    assert_eq!(world.json("POST /files/mv", &moves).await, (200, Value::Null));
    assert_eq!(content(&world, "/tmp/e/f/c.py").await, "x");
    assert_eq!(world.json("POST /files/mv", &moves).await.0, 404);
    let over = json!([{"src": "/tmp/e/f/c.py", "dest": "/tmp/d/a.txt"}]);
    assert_eq!(world.json("POST /files/mv", &over).await.0, 500, "nothing is written over");
    assert_eq!(world.json("DELETE /files?path=/tmp/d", &Value::Null).await.0, 500, "a folder is no file");
    assert_eq!(
        world.json("DELETE /files?path=/tmp/d/a.txt&path=/tmp/no", &Value::Null).await,
        (200, Value::Null)
    );
    assert_eq!(world.json("GET /files/info?path=/tmp/d/a.txt", &Value::Null).await.0, 404);
}

#[tokio::test]
async fn folders_are_made_listed_and_removed() {
    let world = local().await;
    let wanted = json!({"/tmp/one/two": {"mode": 700}, "/tmp/three": {"mode": 0}});
    assert_eq!(world.json("POST /directories", &wanted).await, (200, Value::Null));
    assert_eq!(world.json("POST /directories", &wanted).await, (200, Value::Null), "again");
    upload(&world, "/tmp/one/two/f", "x").await;
    let list = async |query: &str| {
        let (status, all) =
            world.json(&format!("GET /directories/list?path=/tmp/one{query}"), &Value::Null).await;
        let paths =
            all.as_array().into_iter().flatten().map(|info| info["path"].as_str().unwrap().to_owned());
        (status, paths.collect::<Vec<_>>())
    };
    assert_eq!(list("").await, (200, vec!["/tmp/one/two".to_owned()]));
    assert_eq!(list("&depth=2").await.1, ["/tmp/one/two", "/tmp/one/two/f"]);
    assert_eq!(list("&depth=0").await, (200, vec![]));
    assert_eq!(list("&depth=-1").await.0, 400);
    assert_eq!(list("/two/f").await.0, 400);
    assert_eq!(list("/no").await.0, 404);
    assert_eq!(
        world.json("DELETE /directories?path=/tmp/one&path=/tmp/no", &Value::Null).await,
        (200, Value::Null)
    );
    assert_eq!(list("").await.0, 404);
}

#[tokio::test]
async fn the_same_by_number_is_for_the_one_user() {
    let world = local().await;
    upload(&world, "/tmp/x", "x").await;
    let (status, info) =
        world.json("GET /v1/filesystem/1000/1000/files/info?path=/tmp/x", &Value::Null).await;
    assert_eq!((status, &info["/tmp/x"]["size"]), (200, &json!(1)));
    let (status, said) = world.json("GET /v1/filesystem/0/0/files/info?path=/tmp/x", &Value::Null).await;
    assert_eq!((status, &said["code"]), (400, &json!("NOT_SUPPORTED")));
    assert_eq!(world.json("GET /v1/filesystem/a/0/files/info?path=/tmp/x", &Value::Null).await.0, 400);
}

#[tokio::test]
async fn what_a_sandbox_uses_is_told_once_or_every_second() {
    let world = local().await;
    let (status, metrics) = world.json("GET /metrics", &Value::Null).await;
    assert_eq!(status, 200);
    assert!(metrics["cpu_count"].as_f64().unwrap() > 0.0);
    assert!(metrics["mem_total_mib"].as_f64().unwrap() > 0.0);
    let used = metrics["cpu_used_pct"].as_f64().unwrap();
    assert!((0.0..=100.0).contains(&used));
    let mut told = world.stream("GET /metrics/watch", &Value::Null).await;
    for _ in 0..2 {
        assert!(told.next().await.unwrap()["timestamp"].is_u64());
    }
}

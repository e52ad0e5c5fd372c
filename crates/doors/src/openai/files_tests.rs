//! Files as clients of OpenAI's API know them.

use axum::body::Body;
use axum::http::Request;

use super::super::test_client::client;
use super::*;

#[tokio::test]
async fn a_file_has_every_key_of_its_shape_and_comes_back() {
    let client = client().await;
    let content = b"a,b\r\n--edg\r\n\0\xff";
    // Clients send the parts in either order.
    let purpose = ("purpose", None, &b"assistants"[..]);
    let file = ("file", Some("data.csv"), &content[..]);
    for parts in [[purpose, file], [file, purpose]] {
        let made = client.form("/v1/files", &parts).await.good();
        let id = made["id"].as_str().unwrap();
        assert!(id.starts_with("file-") && id.len() == 27, "{id}");
        let expected = json!({
            "id": id, "object": "file", "bytes": content.len(), "created_at": made["created_at"],
            "expires_at": null, "filename": "data.csv", "purpose": "assistants", "status": "processed",
            "status_details": null,
        });
        assert_eq!(made, expected);
        assert_eq!(client.get(&format!("/v1/files/{id}")).await.good(), expected);
        let answer = client.get(&format!("/v1/files/{id}/content")).await;
        assert_eq!((answer.status, &answer.body[..]), (200, &content[..]));
        assert_eq!(answer.header("content-length"), content.len().to_string());
        let part = Request::get(format!("/v1/files/{id}/content")).header("range", "bytes=2-2");
        assert_eq!(client.send(part.body(Body::empty()).unwrap()).await.body, "b");
    }
}

#[tokio::test]
async fn an_end_can_be_set() {
    let client = client().await;
    let send = async |anchor: &'static str, seconds: &'static str| {
        let parts = [
            ("file", Some("x"), &b"x"[..]),
            ("purpose", None, b"user_data"),
            ("expires_after[anchor]", None, anchor.as_bytes()),
            ("expires_after[seconds]", None, seconds.as_bytes()),
        ];
        client.form("/v1/files", &parts).await
    };
    let made = send("created_at", "3600").await.good();
    assert_eq!(made["expires_at"].as_u64(), made["created_at"].as_u64().map(|at| at + 3600));
    for seconds in ["3599", "2592001", "x", "-1", ""] {
        let refused = send("created_at", seconds).await;
        refused.refused(400, Some("expires_after[seconds]"), Some("invalid_value"));
    }
    send("x", "3600").await.refused(400, Some("expires_after[anchor]"), Some("invalid_value"));
    let only = [("purpose", None, &b"user_data"[..]), ("expires_after[seconds]", None, b"3600")];
    let refused = client.form("/v1/files", &only).await;
    refused.refused(400, Some("expires_after[anchor]"), Some("missing_required_parameter"));
}

#[tokio::test]
async fn forms_that_make_no_sense_leave_nothing() {
    let client = client().await;
    let (purpose, file) = (("purpose", None, &b"vision"[..]), ("file", Some("x"), &b"x"[..]));
    let missing = Some("missing_required_parameter");
    client.form("/v1/files", &[purpose]).await.refused(400, Some("file"), missing);
    client.form("/v1/files", &[file]).await.refused(400, Some("purpose"), missing);
    client.form("/v1/files", &[file, file, purpose]).await.refused(400, Some("file"), None);
    let odd = ("purpose", None, &b"fun"[..]);
    client.form("/v1/files", &[odd, file]).await.refused(400, Some("purpose"), Some("invalid_value"));
    let unknown = ("x", None, &b""[..]);
    client.form("/v1/files", &[unknown]).await.refused(400, Some("x"), Some("unknown_parameter"));
    let large = vec![0; (1 << 20) + 1];
    let refused = client.form("/v1/files", &[("file", Some("x"), &large), purpose]).await;
    refused.refused(413, Some("file"), Some("content_too_large"));
    let json = client.post("/v1/files", serde_json::json!({})).await;
    json.refused(415, None, Some("unsupported_content_type"));
    let cut = Request::post("/v1/files").header("content-type", "multipart/form-data; boundary=edge");
    let cut = cut.body("--edge\r\ncontent-disposition: form-data; name=\"file\"\r\n\r\nhalf a fi".into());
    client.send(cut.unwrap()).await.refused(400, Some("file"), None);
    assert_eq!(client.get("/v1/files").await.good()["data"], json!([]));
}

#[tokio::test]
async fn hostile_names_are_cleaned() {
    let client = client().await;
    for (given, kept) in [("../../etc/passwd", "passwd"), ("", "file"), ("ü %22ö%22.txt", "ü \"ö\".txt")]
    {
        let parts = [("purpose", None, &b"user_data"[..]), ("file", Some(given), b"x")];
        assert_eq!(client.form("/v1/files", &parts).await.good()["filename"], kept);
    }
}

#[tokio::test]
async fn lists_come_in_pages_and_by_purpose() {
    let client = client().await;
    let mut ids = Vec::new();
    for name in ["a", "b", "c"] {
        ids.push(client.add_file(name, b"x").await);
    }
    let newest = client.get("/v1/files?limit=2").await.good();
    assert_eq!((&newest["first_id"], &newest["last_id"]), (&json!(ids[2]), &json!(ids[1])));
    assert_eq!(newest["has_more"], json!(true));
    let next = client.get(&format!("/v1/files?after={}", ids[1])).await.good();
    assert_eq!((&next["data"][0]["id"], &next["has_more"]), (&json!(ids[0]), &json!(false)));
    assert_eq!(client.get("/v1/files?purpose=vision").await.good()["data"], json!([]));
    let purpose = client.get("/v1/files?purpose=user_data&order=asc").await.good();
    assert_eq!(purpose["first_id"], json!(ids[0]));
    client.get("/v1/files?after=x").await.refused(400, Some("after"), Some("invalid_value"));
    client.get("/v1/files?limit=10001").await.refused(400, Some("limit"), Some("integer_above_max_value"));
}

#[tokio::test]
async fn what_is_deleted_or_anothers_does_not_exist() {
    let client = client().await;
    let id = client.add_file("a", b"x").await;
    let path = format!("/v1/files/{id}");
    for (method, path) in
        [("GET", path.clone()), ("GET", format!("{path}/content")), ("DELETE", path.clone())]
    {
        let refused = client.send_as("other", method, &path, None).await.refused(404, Some("id"), None);
        assert_eq!(refused, format!("No such File object: {id}"));
    }
    let deleted = client.delete(&path).await.good();
    assert_eq!(deleted, json!({"id": id, "object": "file", "deleted": true}));
    client.get(&path).await.refused(404, Some("id"), None);
    client.delete(&path).await.refused(404, Some("id"), None);
}

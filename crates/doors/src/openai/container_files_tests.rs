//! Files of containers as clients of OpenAI's API know them.

use axum::body::Body;
use axum::http::Request;
use futures_util::stream;
use sandgate_core::FileKind;

use super::super::test_client::{Client, client, client_with};
use super::*;

async fn with_container() -> (Client, String) {
    let client = client().await;
    let id = client.add_container().await;
    (client, format!("/v1/containers/{id}/files"))
}

#[tokio::test]
async fn an_upload_has_every_key_of_its_shape_and_comes_back() {
    let (client, path) = with_container().await;
    let made = client.form(&path, &[("file", Some("my data.csv"), b"1,2\r\n")]).await.good();
    let id = made["id"].as_str().unwrap();
    assert!(id.starts_with("cfile_") && id.len() == 38, "{id}");
    let expected = json!({
        "id": id, "object": "container.file", "created_at": made["created_at"], "bytes": 5,
        "container_id": path.split('/').nth(3).unwrap(), "source": "user",
        "path": format!("/mnt/data/{}-my data.csv", &id["cfile_".len()..]),
    });
    assert_eq!(made, expected);
    assert_eq!(client.get(&format!("{path}/{id}")).await.good(), expected);
    assert_eq!(client.get(&path).await.good()["data"], json!([expected]));
    assert_eq!(client.inside().content(made["path"].as_str().unwrap()).unwrap(), "1,2\r\n");
}

#[tokio::test]
async fn content_is_a_download_and_never_a_page() {
    let (client, path) = with_container().await;
    client.inside().set("/mnt/data/x\".html", "<script>alert(1)</script>");
    let id = client.get(&path).await.good()["data"][0]["id"].as_str().unwrap().to_owned();
    let answer = client.get(&format!("{path}/{id}/content")).await;
    assert_eq!((answer.status, &answer.body[..]), (200, &b"<script>alert(1)</script>"[..]));
    assert_eq!(answer.header("content-length"), "25");
    assert_eq!(answer.header("content-type"), "application/octet-stream");
    assert_eq!(answer.header("x-content-type-options"), "nosniff");
    assert!(answer.header("content-disposition").starts_with("attachment; filename=\"x_.html\";"));

    let part = async |range: &str| {
        let request = Request::get(format!("{path}/{id}/content")).header("range", range);
        client.send(request.body(Body::empty()).unwrap()).await
    };
    let answer = part("bytes=1-6").await;
    assert_eq!((answer.status, &answer.body[..]), (206, &b"script"[..]));
    assert_eq!((answer.header("content-range"), answer.header("content-length")), ("bytes 1-6/25", "6"));
    let answer = part("bytes=-9").await;
    assert_eq!((answer.status, &answer.body[..]), (206, &b"</script>"[..]));
    let answer = part("bytes=25-").await;
    answer.refused(416, None, None);
    assert_eq!(answer.header("content-range"), "bytes */25");
}

#[tokio::test]
async fn a_file_of_the_files_api_is_copied_by_its_id() {
    let (client, path) = with_container().await;
    let file = client.add_file("data.csv", b"1,2").await;
    let made = client.post(&path, json!({"file_id": file})).await.good();
    assert_eq!(made["path"], json!(format!("/mnt/data/{file}-data.csv")));
    let again = client.form(&path, &[("file_id", None, file.as_bytes())]).await.good();
    assert_eq!(again, made);
    let missing = client.post(&path, json!({"file_id": "file-x"})).await;
    assert_eq!(missing.refused(404, Some("file_id"), None), "No such File object: file-x");
    client.post(&path, json!({"file_id": 7})).await.refused(400, Some("file_id"), Some("invalid_type"));
    client.post(&path, json!({"x": 1})).await.refused(400, Some("x"), Some("unknown_parameter"));
    client.post(&path, json!({})).await.refused(400, Some("file_id"), Some("missing_required_parameter"));
}

#[tokio::test]
async fn forms_that_make_no_sense_leave_nothing() {
    let (client, path) = with_container().await;
    client.form(&path, &[]).await.refused(400, Some("file"), Some("missing_required_parameter"));
    client.form(&path, &[("x", None, b"")]).await.refused(400, Some("x"), Some("unknown_parameter"));
    let two = [("file", Some("a"), &b"1"[..]), ("file", Some("b"), b"2")];
    client.form(&path, &two).await.refused(400, None, None);
    client.form(&path, &[("file_id", None, &[b'x'; 5000])]).await.refused(400, Some("file_id"), None);
    client.form(&path, &[("file_id", None, b"\xff")]).await.refused(400, Some("file_id"), None);
    let broken = Request::post(&*path).header("content-type", "multipart/form-data; boundary=edge");
    client.send(broken.body("--edge\r\nnothing more".into()).unwrap()).await.refused(400, None, None);
    let nameless = Request::post(&*path).header("content-type", "multipart/form-data");
    client.send(nameless.body("x".into()).unwrap()).await.refused(400, None, None);
    let other = Request::post(&*path).header("content-type", "application/octet-stream");
    let other = client.send(other.body("x".into()).unwrap()).await;
    other.refused(415, None, Some("unsupported_content_type"));
    assert!(client.inside().paths().is_empty());
}

#[tokio::test]
async fn the_limit_is_exact_and_said_in_words() {
    let (client, path) = with_container().await;
    let limit = 1 << 20;
    assert_eq!(client.form(&path, &[("file", Some("a"), &vec![0; limit])]).await.good()["bytes"], limit);
    for size in [limit + 1, 3 * limit] {
        let refused = client.form(&path, &[("file", Some("b"), &vec![0; size])]).await;
        let message = refused.refused(413, Some("file"), Some("content_too_large"));
        assert_eq!(message, "The file is larger than this server takes, which is 1 MiB.");
    }
    assert_eq!(client.inside().paths().len(), 1);

    let full = client_with(|door| door.spec.limits.disk_bytes = 10).await;
    let path = format!("/v1/containers/{}/files", full.add_container().await);
    let refused = full.form(&path, &[("file", Some("a"), &[0; 11])]).await;
    assert!(refused.refused(413, None, Some("content_too_large")).contains("room for 10 bytes"));
}

#[tokio::test]
async fn a_form_that_never_comes_to_its_file_is_given_up() {
    let (client, path) = with_container().await;
    let endless = stream::repeat_with(|| Ok::<_, std::io::Error>("x".repeat(1000)));
    for start in ["", "--edge\r\ncontent-disposition: form-data; name=\"file\"; x=\""] {
        let body = stream::iter([Ok(start.to_owned())]);
        let body = Body::from_stream(futures_util::StreamExt::chain(body, endless.clone()));
        let request = Request::post(&*path).header("content-type", "multipart/form-data; boundary=edge");
        client.send(request.body(body).unwrap()).await.refused(400, None, None);
    }
}

#[tokio::test]
async fn lists_come_in_pages() {
    let (client, path) = with_container().await;
    for name in ["a", "b", "c"] {
        client.inside().set(&format!("/mnt/data/{name}"), "x");
    }
    client.inside().set_kind("/mnt/data/link", FileKind::Symlink);
    let all = client.get(&format!("{path}?order=asc")).await.good();
    assert_eq!((all["data"].as_array().unwrap().len(), &all["has_more"]), (3, &json!(false)));
    let first = client.get(&format!("{path}?order=asc&limit=2")).await.good();
    assert_eq!((&first["last_id"], &first["has_more"]), (&all["data"][1]["id"], &json!(true)));
    let after = format!("{path}?order=asc&limit=2&after={}", first["last_id"].as_str().unwrap());
    assert_eq!(client.get(&after).await.good()["data"], json!([all["data"][2]]));
    client.get(&format!("{path}?after=x")).await.refused(400, Some("after"), Some("invalid_value"));
}

#[tokio::test]
async fn what_is_removed_is_gone() {
    let (client, path) = with_container().await;
    client.inside().set("/mnt/data/a", "x");
    let id = client.get(&path).await.good()["data"][0]["id"].as_str().unwrap().to_owned();
    let deleted = client.delete(&format!("{path}/{id}")).await.good();
    assert_eq!(deleted, json!({"id": id, "object": "container.file.deleted", "deleted": true}));
    assert!(client.inside().paths().is_empty());
    for path in [format!("{path}/{id}"), format!("{path}/{id}/content")] {
        let refused = client.get(&path).await.refused(404, None, None);
        assert_eq!(refused, format!("Container file with id '{id}' not found."));
    }
    client.delete(&format!("{path}/{id}")).await.refused(404, None, None);
}

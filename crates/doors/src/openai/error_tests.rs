//! What clients read when something is refused.

use axum::body::to_bytes;

use super::*;

async fn seen(error: impl Into<ApiError>) -> (u16, Value) {
    let response = error.into().into_response();
    let status = response.status().as_u16();
    let body = to_bytes(response.into_body(), 1 << 20).await.unwrap();
    (status, serde_json::from_slice(&body).unwrap())
}

#[tokio::test]
async fn all_four_keys_are_always_there() {
    let (status, body) = seen(ApiError::no_such_container("cntr_x")).await;
    assert_eq!(status, 404);
    let expected = json!({"error": {
        "message": "Container with id 'cntr_x' not found.", "type": "invalid_request_error",
        "param": null, "code": null,
    }});
    assert_eq!(body, expected);
    let (_, body) = seen(GateError::missing("name")).await;
    assert_eq!(body["error"]["param"], "name");
    assert_eq!(body["error"]["code"], "missing_required_parameter");
}

#[tokio::test]
async fn nothing_of_the_inside_is_told() {
    let secret = || "/srv/secret".to_owned();
    let inside: [ApiError; 3] = [
        BackendError::Engine(secret()).into(),
        StoreError::Io(std::io::Error::other(secret())).into(),
        ContainerFilesError::Backend(BackendError::Engine(secret())).into(),
    ];
    for error in inside {
        let (status, body) = seen(error).await;
        assert_eq!((status, &body["error"]["type"]), (500, &json!("server_error")));
        assert!(!body.to_string().contains("secret"), "{body}");
    }
}

#[tokio::test]
async fn what_the_client_sent_is_not_repeated_without_end() {
    let (_, body) = seen(ApiError::no_such_container(&"ü".repeat(100_000))).await;
    assert!(body.to_string().len() < 3000);
}

#[tokio::test]
async fn full_says_when_to_come_again() {
    let response = ApiError::from(BackendError::Full { limit: 3 }).into_response();
    assert_eq!(response.status().as_u16(), 503);
    assert_eq!(response.headers()[RETRY_AFTER], "5");
}

#[tokio::test]
async fn an_upstreams_answer_is_passed_on_as_it_came() {
    let headers = HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from_static("7"))]);
    let error = UpstreamError::Status {
        status: StatusCode::TOO_MANY_REQUESTS,
        headers: Box::new(headers),
        body: Bytes::from_static(b"{\"error\":{\"x\":1}}"),
    };
    let response = ApiError::from(error).into_response();
    assert_eq!(response.status().as_u16(), 429);
    assert_eq!(response.headers()[RETRY_AFTER], "7");
    assert_eq!(to_bytes(response.into_body(), 100).await.unwrap(), "{\"error\":{\"x\":1}}");
}

/// A client that knows the codes of `/v1/execute` knows those of containers, responses and chat.
#[tokio::test]
async fn trouble_with_a_backend_has_the_codes_of_execute() {
    let all: [fn() -> BackendError; 3] = [
        || BackendError::NoSuchBackend { name: "far".into(), available: "embedded".into() },
        || BackendError::OtherBackend { own: "embedded".into(), asked: "far".into() },
        || BackendError::Unavailable { backend: "far".into(), reason: "down".into(), retry_seconds: 5 },
    ];
    for error in all {
        let executed = crate::execute::Refusal::from(error()).into_response();
        let status = executed.status().as_u16();
        let body = to_bytes(executed.into_body(), 1 << 20).await.unwrap();
        let executed: Value = serde_json::from_slice(&body).unwrap();
        assert!(executed["error"]["code"].is_string(), "{executed}");
        assert_eq!(seen(error()).await, (status, executed.clone()));
        // Where there is no status any more.
        let said = GateError::Backend(error()).said();
        assert_eq!(
            json!([said.kind, said.code]),
            json!([executed["error"]["type"], executed["error"]["code"]])
        );
    }
}

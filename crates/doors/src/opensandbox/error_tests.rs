//! The form of what is refused.

use axum::body::to_bytes;

use super::*;

async fn body(refusal: Refusal) -> (u16, Option<String>, Value) {
    let response = refusal.into_response();
    let retry = response.headers().get(RETRY_AFTER).map(|value| value.to_str().unwrap().to_owned());
    let status = response.status().as_u16();
    let bytes = to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, retry, serde_json::from_slice(&bytes).unwrap())
}

#[tokio::test]
async fn a_refusal_has_a_code_and_a_message_and_nothing_else() {
    let (status, retry, said) = body(Refusal::no_such_sandbox("x")).await;
    assert_eq!((status, retry), (404, None));
    assert_eq!(said, json!({"code": "DOCKER::SANDBOX_NOT_FOUND", "message": "Sandbox x not found."}));
    let (_, _, long) = body(Refusal::invalid("é".repeat(5000))).await;
    assert_eq!(long["message"].as_str().unwrap().chars().count(), LONGEST_MESSAGE + 1);
}

#[tokio::test]
async fn what_may_be_tried_again_says_when() {
    let (status, retry, _) = body(BackendError::Full { limit: 3 }.into()).await;
    assert_eq!((status, retry.as_deref()), (503, Some("5")));
    let (status, retry, said) = body(BackendError::TooManySandboxes { limit: 3 }.into()).await;
    assert_eq!((status, retry), (429, None));
    assert_eq!(said["code"], "SANDBOX::QUOTA_EXCEEDED");
}

#[tokio::test]
async fn what_failed_inside_the_server_stays_there() {
    let (status, _, said) = body(BackendError::Engine("/secret/path".to_owned()).into()).await;
    assert_eq!(status, 500);
    assert!(!said.to_string().contains("secret"));
}

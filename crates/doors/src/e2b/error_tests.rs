//! The shapes that the SDKs read.

use axum::body::to_bytes;
use serde_json::Value;

use super::*;

async fn answer(error: impl Into<E2bError>) -> (u16, Value, Vec<String>) {
    let response = error.into().into_response();
    let status = response.status().as_u16();
    let retry = ["should-retry", "retry-after"]
        .iter()
        .filter_map(|name| Some(format!("{name}: {}", response.headers().get(*name)?.to_str().unwrap())))
        .collect();
    let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, serde_json::from_slice(&body).unwrap(), retry)
}

#[tokio::test]
async fn the_data_planes_words_are_those_that_the_sdks_look_for() {
    let gone = json!({"code": 502, "message": "The sandbox was not found", "sandboxId": "iabc"});
    assert_eq!(answer(E2bError::sandbox_gone("iabc")).await.1, gone);
    let message = "The sandbox is running but port is not open";
    let closed = json!({"code": 502, "message": message, "sandboxId": "iabc", "port": 3000});
    assert_eq!(answer(E2bError::port_closed("iabc", 3000)).await.1, closed);
}

#[tokio::test]
async fn trying_again_is_said_to_help_only_where_it_may() {
    let (status, _, retry) = answer(BackendError::Full { limit: 1 }).await;
    assert_eq!((status, retry), (503, vec!["retry-after: 5".to_owned()]));
    let (status, _, retry) = answer(BackendError::TooManySandboxes { limit: 1 }).await;
    assert_eq!((status, retry), (429, vec!["should-retry: false".to_owned()]));
    let (status, _, retry) = answer(LeaseError::NotFound).await;
    assert_eq!((status, retry), (404, vec![]));
}

#[tokio::test]
async fn what_failed_inside_stays_inside_and_long_messages_end() {
    let (status, body, _) = answer(BackendError::Engine("secret detail".to_owned())).await;
    assert_eq!(status, 500);
    assert!(!body.to_string().contains("secret"));
    let (_, body, _) = answer(E2bError::bad_request("ž".repeat(5000))).await;
    assert_eq!(body["message"].as_str().unwrap().chars().count(), LONGEST_MESSAGE + 1);
}

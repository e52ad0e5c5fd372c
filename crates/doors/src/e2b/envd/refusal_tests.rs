use axum::body::to_bytes;

use super::*;

async fn shown(response: Response) -> (u16, Value) {
    let status = response.status().as_u16();
    let body = to_bytes(response.into_body(), 4096).await.unwrap();
    (status, serde_json::from_slice(&body).unwrap())
}

#[tokio::test]
async fn each_way_in_has_its_own_shape_of_the_same_no() {
    let missing = Refusal::from(BackendError::NoSuchFile("/x".to_owned()));
    let plain = json!({ "code": 404, "message": "path '/x' does not exist" });
    assert_eq!(shown(missing.clone().over_http("i1")).await, (404, plain));
    let call = json!({ "code": "not_found", "message": "path '/x' does not exist" });
    assert_eq!(shown(missing.over_connect("i1")).await, (404, call));
}

#[tokio::test]
async fn a_sandbox_that_ended_is_told_in_the_words_clients_look_for() {
    let gone = json!({ "sandboxId": "i1", "message": "The sandbox was not found", "code": 502 });
    for response in [Refusal::gone().over_http("i1"), Refusal::gone().over_connect("i1")] {
        assert_eq!(shown(response).await, (502, gone.clone()));
    }
}

#[tokio::test]
async fn what_the_engine_says_of_itself_stays_inside() {
    let refusal = Refusal::from(BackendError::Engine("/secret/path".to_owned()));
    assert_eq!(refusal.kind, Kind::Internal);
    assert!(!refusal.message.contains("secret"));
}

#[tokio::test]
async fn too_little_space_is_507_and_ends_the_connection() {
    let response = Refusal::from(BackendError::FileTooLarge { limit: 5 }).over_http("i1");
    assert_eq!(response.headers()[CONNECTION], "close");
    assert_eq!(shown(response).await.0, 507);
}

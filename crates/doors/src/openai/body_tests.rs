//! Bodies that are no JSON objects.

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, Request};
use axum::response::IntoResponse;
use futures_util::stream;

use super::{JsonBody, with_model};
use crate::patience::TooSlow;

async fn status(body: Body) -> u16 {
    let request = Request::post("/").header("content-type", "application/json").body(body).unwrap();
    match JsonBody::from_request(request, &()).await {
        Ok(_) => 200,
        Err(error) => error.into_response().status().as_u16(),
    }
}

#[tokio::test]
async fn each_problem_has_its_own_status() {
    assert_eq!(status(Body::from("{}")).await, 200);
    assert_eq!(status(Body::from("[]")).await, 400);
    assert_eq!(status(Body::from("{")).await, 400);
    assert_eq!(status(Body::from_stream(stream::iter([Err::<Bytes, _>(TooSlow)]))).await, 408);
}

#[test]
fn the_model_of_a_path_counts_where_the_body_names_none() {
    let with = |body: &'static str| String::from_utf8(with_model(body.into(), "a\"b").to_vec()).unwrap();
    assert_eq!(with(r#" {"input": 1}"#), r#" {"model":"a\"b","input": 1}"#);
    assert_eq!(with("{ }"), r#"{"model":"a\"b" }"#);
    for body in [r#"{"model":"c"}"#, r#"{"Model":"c"}"#, r#"{"model":null}"#, "[{}]", "{", ""] {
        assert_eq!(with(body), body);
    }
}

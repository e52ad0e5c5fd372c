//! Only a browser that asks for the first page is led anywhere.

use axum::Router;
use axum::body::Body;
use axum::http::StatusCode;
use axum::middleware::from_fn;
use tower_service::Service;

use super::*;

async fn answer(method: &str, path: &str, accept: &str) -> (StatusCode, String) {
    let mut router = Router::new().fallback(async || StatusCode::IM_A_TEAPOT).layer(from_fn(lead_browsers));
    let request = Request::builder().method(method).uri(path).header("accept", accept);
    let response = router.call(request.body(Body::empty()).unwrap()).await.unwrap();
    let to = response.headers().get("location").map(|to| to.to_str().unwrap().to_owned());
    (response.status(), to.unwrap_or_default())
}

#[tokio::test]
async fn the_name_of_the_server_leads_a_browser_to_the_console() {
    let browser = "text/html,application/xhtml+xml,*/*;q=0.8";
    assert_eq!(answer("GET", "/", browser).await, (StatusCode::SEE_OTHER, "/console".to_owned()));
    let as_ever = (StatusCode::IM_A_TEAPOT, String::new());
    for (method, path, accept) in [
        ("GET", "/", "*/*"),
        ("POST", "/", browser),
        ("GET", "/v1/models", browser),
        ("GET", "/", "application/json"),
    ] {
        assert_eq!(answer(method, path, accept).await, as_ever, "{method} {path} {accept}");
    }
}

//! People who open the server's name in a browser are led to the console; programs are told what they always are.

use axum::extract::Request;
use axum::http::Method;
use axum::http::header::ACCEPT;
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};

const CONSOLE: &str = "/console";

pub(crate) async fn lead_browsers(request: Request, next: Next) -> Response {
    let wants_a_page = request
        .headers()
        .get(ACCEPT)
        .and_then(|kinds| kinds.to_str().ok())
        .is_some_and(|kinds| kinds.contains("text/html"));
    if request.method() == Method::GET && request.uri().path() == "/" && wants_a_page {
        return Redirect::to(CONSOLE).into_response();
    }
    next.run(request).await
}

#[cfg(test)]
#[path = "browsers_tests.rs"]
mod tests;

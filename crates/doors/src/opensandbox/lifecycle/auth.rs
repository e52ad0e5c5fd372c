//! Who may use the lifecycle API: the same keys as everywhere, in OpenSandbox's header, with its words for no.

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use sandgate_core::Rank;

use super::super::error::Refusal;
use crate::access::{Access, NotLetIn, asking_for_backend, forget_keys, presented_in};
use crate::local::foreign_host;

pub(in crate::opensandbox) const API_KEY: &str = "open-sandbox-api-key";
/// The one path that needs no key.
const VERSION: &str = "/version";

pub(super) async fn authenticate(State(access): State<Access>, mut request: Request, next: Next) -> Response {
    if request.uri().path() == VERSION {
        return next.run(request).await;
    }
    let principal = match access.principal(presented_in(request.headers(), API_KEY)).await {
        Ok(principal) => principal,
        Err(refusal) => return refused(refusal).into_response(),
    };
    // Without keys, what protects the server is that only this machine reaches it.
    if principal.rank == Rank::Open
        && let Some(refusal) = foreign_host(request.headers())
    {
        let status = StatusCode::MISDIRECTED_REQUEST;
        return Refusal::new(status, "FOREIGN_HOST", refusal.to_string()).into_response();
    }
    forget_keys(request.headers_mut());
    match asking_for_backend(principal, request.headers_mut()) {
        Ok(principal) => request.extensions_mut().insert(principal),
        Err(error) => return Refusal::from(error).into_response(),
    };
    next.run(request).await
}

pub(in crate::opensandbox) fn refused(refusal: NotLetIn) -> Refusal {
    let no = |code, message: String| Refusal::new(StatusCode::UNAUTHORIZED, code, message);
    match refusal {
        NotLetIn::NoKey => no(
            "MISSING_API_KEY",
            "Authentication credentials are missing. Provide API key via OPEN-SANDBOX-API-KEY header."
                .to_owned(),
        ),
        NotLetIn::Wrong { shown } => no("INVALID_API_KEY", format!("The API key {shown} is not valid.")),
        NotLetIn::Expired { shown } => no("INVALID_API_KEY", format!("The API key {shown} has expired.")),
        NotLetIn::TooOften { limit, wait } => {
            let message = format!("this key may make {limit} requests per minute");
            Refusal::new(StatusCode::TOO_MANY_REQUESTS, "RATE_LIMITED", message)
                .retry_after(wait.as_secs() + 1)
        }
        NotLetIn::Store(error) => Refusal::internal(&error),
    }
}

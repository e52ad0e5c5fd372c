//! Who may use the control plane: the same keys as everywhere, in E2B's header, with E2B's words for no.

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::HOST;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use sandgate_core::Rank;

use super::super::error::E2bError;
use super::super::host::{Place, place};
use crate::access::{Access, NotLetIn, asking_for_backend, forget_keys, presented_in};
use crate::local::foreign_host;

const API_KEY: &str = "x-api-key";
/// The one path that needs no key.
const HEALTH: &str = "/health";

#[derive(Clone, Debug)]
pub(super) struct Guard {
    pub(super) access: Access,
    pub(super) domain: Option<String>,
}

pub(super) async fn authenticate(State(guard): State<Guard>, mut request: Request, next: Next) -> Response {
    if request.uri().path() == HEALTH {
        return next.run(request).await;
    }
    let principal = match guard.access.principal(presented_in(request.headers(), API_KEY)).await {
        Ok(principal) => principal,
        Err(refusal) => return E2bError::from(refusal).into_response(),
    };
    // Without keys, what protects the server is that only this machine reaches it; a name that the operator has
    // set up is as good as a local one.
    if principal.rank == Rank::Open
        && !guard.is_own_name(&request)
        && let Some(refusal) = foreign_host(request.headers())
    {
        return E2bError::new(StatusCode::MISDIRECTED_REQUEST, refusal.to_string()).into_response();
    }
    forget_keys(request.headers_mut());
    match asking_for_backend(principal, request.headers_mut()) {
        Ok(principal) => request.extensions_mut().insert(principal),
        Err(error) => return E2bError::from(error).into_response(),
    };
    next.run(request).await
}

impl Guard {
    fn is_own_name(&self, request: &Request) -> bool {
        let host = request.headers().get(HOST).and_then(|host| host.to_str().ok());
        host.is_some_and(|host| place(self.domain.as_deref(), host) == Place::Control)
    }
}

impl From<NotLetIn> for E2bError {
    fn from(refusal: NotLetIn) -> Self {
        match refusal {
            NotLetIn::NoKey => {
                Self::unauthorized("no API key was sent: set E2B_API_KEY to a key of this server")
            }
            NotLetIn::Wrong { shown } => Self::unauthorized(format!("the API key {shown} is not valid")),
            NotLetIn::Expired { shown } => Self::unauthorized(format!("the API key {shown} has expired")),
            NotLetIn::TooOften { limit, wait } => {
                let message = format!("this key may make {limit} requests per minute");
                Self::new(StatusCode::TOO_MANY_REQUESTS, message).retry_after(wait.as_secs() + 1)
            }
            NotLetIn::Store(error) => Self::internal(&error),
        }
    }
}

//! Stands before every other door and takes what is E2B's: by host name, by path, or by a file's signature.

use axum::Router;
use axum::extract::Request;
use axum::http::header::HOST;
use axum::http::{HeaderMap, Uri};
use axum::response::{IntoResponse, Response};
use tower_service::Service;

use super::error::{E2bError, E2bResult};
use super::host::{Place, place, port_number, sandbox_id};
use super::ports::ByPath;
use super::route::{DataPlane, Wanted};
use super::tokens::Signed;
use super::{Door, E2bDoor, PREFIX, control};
use crate::access::Access;

/// Below the prefix: ports by path.
const PORTS: &str = "/ports/";

#[derive(Clone, Debug)]
pub(crate) struct Front {
    door: Door,
    /// Takes a key.
    control: Router,
    /// Takes a sandbox's own tokens.
    data: DataPlane,
}

/// Who answers a request.
#[derive(Debug)]
enum Way {
    Control(String),
    Data(Wanted, String),
    /// The same, by a path of the server's.
    Port(Wanted, String),
    Refused(E2bError),
    Others,
}

/// Whether a request is one of this door's. `domain`: that of its sandboxes.
pub(crate) fn is_ours(domain: Option<&str>, request: &Request) -> bool {
    !matches!(way(domain, request), Way::Others)
}

impl Front {
    pub(crate) fn new(door: E2bDoor, access: Access) -> Self {
        let door = Door::new(door);
        let control = control::router(Door::clone(&door), access);
        Self { control, data: DataPlane::new(Door::clone(&door)), door }
    }

    /// Puts something around the control plane. Nothing is put around what goes on inside sandboxes: it is
    /// guarded by secrets that no page can know, and may talk as slowly as it likes.
    pub(crate) fn around_control(self, around: impl FnOnce(Router) -> Router) -> Self {
        Self { control: around(self.control), ..self }
    }

    /// `others`: who answers what is not E2B's.
    pub(crate) async fn answer(mut self, mut others: Router, request: Request) -> Response {
        let way = way(self.door.settings.domain.as_deref(), &request);
        match way {
            Way::Others => {
                let Ok(response) = others.call(request).await;
                response
            }
            Way::Refused(error) => error.into_response(),
            Way::Control(path) => match with_path(request, &path) {
                Ok(request) => {
                    let Ok(response) = self.control.call(request).await;
                    response
                }
                Err(error) => error.into_response(),
            },
            Way::Data(wanted, path) => match with_path(request, &path) {
                Ok(request) => self.data.answer(wanted, request).await,
                Err(error) => error.into_response(),
            },
            Way::Port(wanted, path) => match with_path(request, &path) {
                Ok(mut request) => {
                    request.extensions_mut().insert(ByPath);
                    self.data.answer(wanted, request).await
                }
                Err(error) => error.into_response(),
            },
        }
    }
}

fn way(domain: Option<&str>, request: &Request) -> Way {
    let path = request.uri().path();
    let here = || path.to_owned();
    match place(domain, host(request.headers(), request.uri())) {
        Place::Control => Way::Control(below_prefix(path).unwrap_or(path).to_owned()),
        Place::Sandbox { id, port } => match Wanted::by_headers(request.headers()) {
            Some(Ok(wanted)) => Way::Data(wanted, here()),
            Some(Err(error)) => Way::Refused(error),
            None => Way::Data(Wanted::Sandbox { id, port }, here()),
        },
        Place::Shared => match Wanted::by_headers(request.headers()) {
            Some(Ok(wanted)) => Way::Data(wanted, here()),
            Some(Err(error)) => Way::Refused(error),
            None if Signed::of(request.method(), path, request.uri()).is_some() => {
                Way::Data(Wanted::SignedFile, here())
            }
            None => Way::Refused(E2bError::bad_request("the header e2b-sandbox-id is missing")),
        },
        Place::Elsewhere => match below_prefix(path) {
            Some(below) => way_below(below, request),
            // The SDKs drop the prefix from these.
            None if Signed::of(request.method(), path, request.uri()).is_some() => {
                Way::Data(Wanted::SignedFile, here())
            }
            None => Way::Others,
        },
    }
}

fn way_below(path: &str, request: &Request) -> Way {
    if let Some(rest) = path.strip_prefix(PORTS) {
        let mut parts = rest.splitn(3, '/');
        let id = parts.next().and_then(sandbox_id);
        let port = parts.next().and_then(port_number);
        return match (id, port) {
            (Some(id), Some(port)) => {
                let path = format!("/{}", parts.next().unwrap_or_default());
                Way::Port(Wanted::Sandbox { id: id.to_owned(), port }, path)
            }
            _ => Way::Refused(E2bError::bad_request(format!(
                "a port of a sandbox is {PREFIX}{PORTS}SANDBOX/PORT/, which {PREFIX}{path} is not"
            ))),
        };
    }
    match Wanted::by_headers(request.headers()) {
        Some(Ok(wanted)) => Way::Data(wanted, path.to_owned()),
        Some(Err(error)) => Way::Refused(error),
        None if Signed::of(request.method(), path, request.uri()).is_some() => {
            Way::Data(Wanted::SignedFile, path.to_owned())
        }
        None => Way::Control(path.to_owned()),
    }
}

fn host<'a>(headers: &'a HeaderMap, uri: &'a Uri) -> &'a str {
    let header = headers.get(HOST).map(|host| host.to_str().unwrap_or_default());
    header.or_else(|| uri.authority().map(axum::http::uri::Authority::as_str)).unwrap_or_default()
}

fn below_prefix(path: &str) -> Option<&str> {
    match path.strip_prefix(PREFIX)? {
        "" => Some("/"),
        rest if rest.starts_with('/') => Some(rest),
        _ => None,
    }
}

fn with_path(request: Request, path: &str) -> E2bResult<Request> {
    let changed = crate::lent::with_path(request, path);
    changed.ok_or_else(|| E2bError::bad_request("the path of the request cannot be read"))
}

#[cfg(test)]
#[path = "front_tests.rs"]
mod tests;

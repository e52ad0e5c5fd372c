//! Ports inside a sandbox, from outside: who may reach them, and what does not travel on.

use axum::extract::Request;
use axum::http::header::{COOKIE, HOST, LOCATION, SET_COOKIE};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use sandgate_core::Lease;

use super::details::Details;
use super::error::{E2bError, E2bResult};
use super::route::{ID_HEADER, PORT_HEADER, Target};
use super::tokens::TRAFFIC_HEADER;
use super::{CODE_PORT, E2bDoor};
use crate::cross_site::is_of_another_site;
use crate::lent::carry::{NotCarried, Way, carry};
use crate::lent::{form, same};
use crate::tls::OverTls;

/// Nobody's but ours.
const OURS: [&str; 5] = [TRAFFIC_HEADER, ID_HEADER, PORT_HEADER, "x-api-key", "x-access-token"];
const HOST_ONLY: &str = "__Host-";
/// The request came by a path of the server's, and not by a name of the sandbox's own.
#[derive(Clone, Copy, Debug)]
pub(super) struct ByPath;

#[derive(Debug)]
pub(super) enum Entry {
    Open,
    Answered(Box<Response>),
}

/// Whether a request may reach the port. Whoever cannot send headers, as a browser, brings the token once behind
/// the question mark; at a name of the sandbox's own a cookie keeps it.
pub(super) fn entry(
    door: &E2bDoor,
    lease: &Lease,
    details: &Details,
    port: u16,
    request: &mut Request,
) -> Entry {
    if door.may_enter(details, port, request.headers()) {
        return Entry::Open;
    }
    if port == CODE_PORT {
        return refused(lease, port);
    }
    let (shown, rest) = take_token(request.uri());
    if shown.is_some_and(|shown| same(&details.traffic_token, &shown)) {
        if request.extensions().get::<ByPath>().is_none() && request.method() == Method::GET {
            let over_tls = request.extensions().get::<OverTls>().is_some();
            return Entry::Answered(Box::new(remembered(&rest, &details.traffic_token, over_tls)));
        }
        if let Ok(uri) = rest.parse() {
            *request.uri_mut() = uri;
        }
        return Entry::Open;
    }
    let by_cookie = cookie(request.headers()).is_some_and(|shown| same(&details.traffic_token, &shown));
    // A browser sends a cookie along whoever asks it to.
    if by_cookie && is_own_page(request) {
        return Entry::Open;
    }
    refused(lease, port)
}

/// Whether a page of the sandbox itself asks, or the person before the browser.
fn is_own_page(request: &Request) -> bool {
    let said = |name: &str| request.headers().get(name).map(HeaderValue::as_bytes);
    let is_own = matches!(said("sec-fetch-site"), Some(b"same-origin" | b"none"));
    // A link that somebody follows shows its page to nobody else.
    let is_followed = request.method() == Method::GET
        && said("sec-fetch-mode") == Some(b"navigate")
        && said("sec-fetch-dest") == Some(b"document");
    (is_own || is_followed) && !is_of_another_site(request.headers(), request.uri())
}

fn refused(lease: &Lease, port: u16) -> Entry {
    let message = format!(
        "port {port} of the sandbox takes its traffic access token: send it in the header {TRAFFIC_HEADER}"
    );
    Entry::Answered(Box::new(E2bError::new(StatusCode::FORBIDDEN, message).of(&lease.id).into_response()))
}

/// The token behind the question mark, and the path without it.
fn take_token(uri: &Uri) -> (Option<String>, String) {
    let mut token = None;
    let mut rest = form_urlencoded::Serializer::new(String::new());
    for (name, value) in form(uri.query().unwrap_or_default()) {
        if name.eq_ignore_ascii_case(TRAFFIC_HEADER) {
            token = Some(value);
        } else {
            rest.append_pair(&name, &value);
        }
    }
    let rest = rest.finish();
    let path = uri.path();
    (token, if rest.is_empty() { path.to_owned() } else { format!("{path}?{rest}") })
}

/// Sends a browser to the same page without the token in its address.
fn remembered(path: &str, token: &str, over_tls: bool) -> Response {
    // Two slashes at the front would be another host.
    let path = format!("/{}", path.trim_start_matches(['/', '\\']));
    // Under this name a browser takes it from nobody but this host itself.
    let (before, after) = if over_tls { (HOST_ONLY, "; Secure") } else { ("", "") };
    let cookie = format!("{before}{TRAFFIC_HEADER}={token}; Path=/; HttpOnly; SameSite=Lax{after}");
    (StatusCode::SEE_OTHER, [(LOCATION, path), (SET_COOKIE, cookie)]).into_response()
}

fn cookies(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let all = headers.get_all(COOKIE).into_iter().filter_map(|value| value.to_str().ok());
    all.flat_map(|text| text.split(';')).map(str::trim)
}

fn is_our_cookie(name: &str) -> bool {
    name.strip_prefix(HOST_ONLY).unwrap_or(name) == TRAFFIC_HEADER
}

fn cookie(headers: &HeaderMap) -> Option<String> {
    let mut pairs = cookies(headers).filter_map(|pair| pair.split_once('='));
    pairs.find(|(name, _)| is_our_cookie(name)).map(|(_, value)| value.to_owned())
}

/// Carries the request to the port and the answer back.
pub(super) async fn pass(
    door: &E2bDoor,
    target: Target,
    port: u16,
    mut request: Request,
) -> E2bResult<Response> {
    let id = &target.lease.id;
    let not_carried = |error| match error {
        NotCarried::Closed => E2bError::port_closed(id, port),
        NotCarried::Backend(error) => E2bError::from(error).of(id),
        NotCarried::BadPath => E2bError::bad_request(error.to_string()),
        NotCarried::NoAnswer | NotCarried::NoTls | NotCarried::Unasked => {
            E2bError::new(StatusCode::BAD_GATEWAY, error.to_string()).of(id)
        }
        NotCarried::TooManyTunnels => {
            E2bError::new(StatusCode::SERVICE_UNAVAILABLE, error.to_string()).retry_after(5)
        }
    };
    let sandbox = target.sandbox().await.map_err(|error| not_carried(error.into()))?;
    let way = Way {
        leases: &door.leases,
        id,
        owner: &target.lease.owner,
        sandbox: &sandbox,
        port,
        tunnels: &door.state.0.tunnels,
        is_by_path: request.extensions().get::<ByPath>().is_some(),
        is_over_tls: target.details.speaks_tls(port),
    };
    if way.is_by_path {
        // That is a path of this server, and its cookies are for its own pages.
        request.headers_mut().remove(COOKIE);
    }
    forget_ours(&target.details, port, request.headers_mut());
    carry(&way, request).await.map_err(not_carried)
}

/// What is ours stays here; the host may be told differently.
fn forget_ours(details: &Details, port: u16, headers: &mut HeaderMap) {
    for name in OURS {
        headers.remove(name);
    }
    forget_cookie(headers);
    let mask = details.network.as_ref().and_then(|network| network.get("maskRequestHost")?.as_str());
    let masked = mask.map(|mask| mask.replace("${PORT}", &port.to_string()));
    if let Some(host) = masked.and_then(|host| HeaderValue::try_from(host).ok()) {
        headers.insert(HOST, host);
    }
}

fn forget_cookie(headers: &mut HeaderMap) {
    let others: Vec<_> = cookies(headers)
        .filter(|pair| pair.split_once('=').is_none_or(|(name, _)| !is_our_cookie(name)))
        .collect();
    let others = HeaderValue::try_from(others.join("; ")).ok().filter(|value| !value.is_empty());
    match others {
        Some(others) => headers.insert(COOKIE, others),
        None => headers.remove(COOKIE),
    };
}

#[cfg(test)]
#[path = "ports_tests.rs"]
mod tests;

//! What listens on a port inside a sandbox, from outside: HTTP both ways as it comes, and websockets.

use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{
    CONNECTION, COOKIE, HOST, LOCATION, SET_COOKIE, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use hyper::client::conn::http1;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use sandgate_core::{BackendError, Lease};
use tokio::io::copy_bidirectional;

use super::details::Details;
use super::error::{E2bError, E2bResult};
use super::route::{ID_HEADER, PORT_HEADER, Target, form};
use super::tokens::{TRAFFIC_HEADER, same};
use super::{CODE_PORT, E2bDoor};
use crate::cross_site::is_of_another_site;

const CONTENT_SECURITY_POLICY: HeaderName = HeaderName::from_static("content-security-policy");
/// What concerns one connection only.
const HOP_BY_HOP: [HeaderName; 5] = [CONNECTION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE];
const MORE_HOP_BY_HOP: [&str; 4] =
    ["keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authorization"];
/// Nobody's but ours.
const OURS: [&str; 5] = [TRAFFIC_HEADER, ID_HEADER, PORT_HEADER, "x-api-key", "x-access-token"];
/// A page that code inside made, on the address of the whole server: it must not act as if it were the server's.
const NO_ORIGIN: &str = "sandbox allow-scripts allow-forms allow-popups allow-modals allow-downloads";

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
        if request.extensions().get::<ByPath>().is_none() && request.method() == axum::http::Method::GET {
            return Entry::Answered(Box::new(remembered(&rest, &details.traffic_token)));
        }
        if let Ok(uri) = rest.parse() {
            *request.uri_mut() = uri;
        }
        return Entry::Open;
    }
    let by_cookie = cookie(request.headers()).is_some_and(|shown| same(&details.traffic_token, &shown));
    // A browser sends a cookie along whoever asks it to.
    if by_cookie && !is_of_another_site(request.headers(), request.uri()) {
        return Entry::Open;
    }
    refused(lease, port)
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
fn remembered(path: &str, token: &str) -> Response {
    // Two slashes at the front would be another host.
    let path = format!("/{}", path.trim_start_matches(['/', '\\']));
    let cookie = format!("{TRAFFIC_HEADER}={token}; Path=/; HttpOnly; SameSite=Lax");
    (StatusCode::SEE_OTHER, [(LOCATION, path), (SET_COOKIE, cookie)]).into_response()
}

fn cookies(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let all = headers.get_all(COOKIE).into_iter().filter_map(|value| value.to_str().ok());
    all.flat_map(|text| text.split(';')).map(str::trim)
}

fn cookie(headers: &HeaderMap) -> Option<String> {
    let mut pairs = cookies(headers).filter_map(|pair| pair.split_once('='));
    pairs.find(|(name, _)| *name == TRAFFIC_HEADER).map(|(_, value)| value.to_owned())
}

/// Carries the request to the port and the answer back.
pub(super) async fn pass(door: &E2bDoor, target: Target, mut request: Request) -> E2bResult<Response> {
    let id = &target.lease.id;
    let closed = || E2bError::port_closed(id, target.port);
    let of_it = |error: BackendError| match error {
        BackendError::PortClosed(_) => closed(),
        error => E2bError::from(error).of(id),
    };
    let inside = target.sandbox().await.map_err(of_it)?.inside().await.map_err(of_it)?;
    let connection = inside.connect(target.port).await.map_err(of_it)?;
    let (mut sender, connection) =
        http1::handshake::<_, Body>(TokioIo::new(connection)).await.map_err(|_| closed())?;
    tokio::spawn(async move {
        if let Err(error) = connection.with_upgrades().await {
            tracing::debug!(%error, "a connection to a port of a sandbox ended early");
        }
    });
    let is_by_path = request.extensions().get::<ByPath>().is_some();
    let upgrade = upgrade(request.headers());
    let client = request.extensions_mut().remove::<OnUpgrade>();
    let sent = sender.send_request(inward(&target, request, upgrade.as_ref())?).await;
    let mut response = sent.map_err(|error| {
        tracing::debug!(%error, "a port of a sandbox gave no answer");
        E2bError::new(StatusCode::BAD_GATEWAY, "what listens on the port gave no answer").of(id)
    })?;
    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        let inner = hyper::upgrade::on(&mut response);
        let (Some(_), Some(client)) = (&upgrade, client) else {
            return Err(E2bError::new(StatusCode::BAD_GATEWAY, "the port switched protocols unasked").of(id));
        };
        tunnel(door, &target, client, inner)?;
    }
    let mut response = response.map(Body::new);
    let is_upgrade = response.status() == StatusCode::SWITCHING_PROTOCOLS;
    let switched = response.headers().get(UPGRADE).cloned().filter(|_| is_upgrade);
    drop_hop_by_hop(response.headers_mut());
    if let Some(protocol) = switched {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("upgrade"));
        response.headers_mut().insert(UPGRADE, protocol);
    }
    if is_by_path {
        response.headers_mut().insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(NO_ORIGIN));
    }
    if is_upgrade {
        return Ok(response);
    }
    Ok(match door.leases.gone(id) {
        Some(gone) => response.map(|body| super::route::cut_when(gone, body)),
        None => response,
    })
}

/// The request as it is sent inside.
fn inward(target: &Target, request: Request, upgrade: Option<&HeaderValue>) -> E2bResult<Request> {
    let (mut head, body) = request.into_parts();
    head.extensions.clear();
    let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
    head.uri = path.parse().map_err(|_| E2bError::bad_request("the path of the request cannot be read"))?;
    head.version = axum::http::Version::HTTP_11;
    drop_hop_by_hop(&mut head.headers);
    for name in OURS {
        head.headers.remove(name);
    }
    forget_cookie(&mut head.headers);
    if let Some(protocol) = upgrade {
        head.headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
        head.headers.insert(UPGRADE, protocol.clone());
    }
    let mask = target.details.network.as_ref().and_then(|network| network.get("maskRequestHost")?.as_str());
    let masked = mask.map(|mask| mask.replace("${PORT}", &target.port.to_string()));
    if let Some(host) = masked.and_then(|host| HeaderValue::try_from(host).ok()) {
        head.headers.insert(HOST, host);
    }
    if !head.headers.contains_key(HOST) {
        head.headers.insert(HOST, HeaderValue::from_static("localhost"));
    }
    Ok(Request::from_parts(head, body))
}

fn forget_cookie(headers: &mut HeaderMap) {
    let others: Vec<_> = cookies(headers)
        .filter(|pair| pair.split_once('=').is_none_or(|(name, _)| name != TRAFFIC_HEADER))
        .collect();
    let others = HeaderValue::try_from(others.join("; ")).ok().filter(|value| !value.is_empty());
    match others {
        Some(others) => headers.insert(COOKIE, others),
        None => headers.remove(COOKIE),
    };
}

/// What the connection is to become, if that is asked for.
fn upgrade(headers: &HeaderMap) -> Option<HeaderValue> {
    named_in_connection(headers).any(|name| name.eq_ignore_ascii_case("upgrade")).then_some(())?;
    headers.get(UPGRADE).cloned()
}

fn named_in_connection(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let all = headers.get_all(CONNECTION).into_iter().filter_map(|value| value.to_str().ok());
    all.flat_map(|text| text.split(',')).map(str::trim)
}

fn drop_hop_by_hop(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = named_in_connection(headers).filter_map(|name| name.parse().ok()).collect();
    for name in HOP_BY_HOP.iter().chain(&named) {
        headers.remove(name);
    }
    for name in MORE_HOP_BY_HOP {
        headers.remove(name);
    }
}

/// Both sides talk as they like from here on, until one ends or the sandbox does.
fn tunnel(door: &E2bDoor, target: &Target, client: OnUpgrade, inner: OnUpgrade) -> E2bResult<()> {
    let room = door.state.0.tunnels().try_acquire_owned();
    let room = room.map_err(|_| {
        E2bError::new(StatusCode::SERVICE_UNAVAILABLE, "there are as many open tunnels as there may be")
            .retry_after(5)
    })?;
    let gone = door.leases.gone(&target.lease.id);
    tokio::spawn(async move {
        let _room = room;
        let (Ok(client), Ok(inner)) = (client.await, inner.await) else { return };
        let (mut client, mut inner) = (TokioIo::new(client), TokioIo::new(inner));
        let ended = async {
            if let Some(mut gone) = gone {
                let _ = gone.wait_for(|gone| *gone).await;
            }
        };
        tokio::select! {
            ended = copy_bidirectional(&mut client, &mut inner) => {
                if let Err(error) = ended {
                    tracing::debug!(%error, "a tunnel to a port of a sandbox ended early");
                }
            }
            () = ended => {}
        }
    });
    Ok(())
}

#[cfg(test)]
#[path = "ports_tests.rs"]
mod tests;

//! Stands before every page: who it is, by the session; and before whatever changes something, whether it is
//! really a page of this console that asks.

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_TYPE, HOST, ORIGIN, SET_COOKIE};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use sandgate_core::{Rank, random_hex};
use sandgate_doors::{OverTls, is_of_this_machine};
use subtle::ConstantTimeEq;

use crate::arrival::{Arrival, FETCH_SITE, arrival, once_more};
use crate::fields::{Fields, MOST_BYTES};
use crate::problem::Problem;
use crate::sessions::SessionKey;
use crate::visitor::{Csrf, Visitor};
use crate::{Console, cookie};

/// Sent by scripts of ours.
const CSRF: HeaderName = HeaderName::from_static("x-csrf-token");
/// A page refreshes itself: nobody did anything.
const LIVE: HeaderName = HeaderName::from_static("x-console-live");

pub(crate) async fn guard(State(console): State<Console>, mut request: Request, next: Next) -> Response {
    let is_tls = is_tls(&request);
    let arrival = arrival(request.method(), request.headers());
    let found = visitor(&console, request.headers(), arrival, is_tls).await;
    let (visitor, cookie) = match found {
        Ok(found) => found,
        // Who is signed in is not known yet.
        Err(Problem::SignedOut | Problem::NotFromHere) if arrival == Arrival::Followed => {
            return once_more(request.uri());
        }
        Err(Problem::SignedOut) if request.method() == Method::GET && !is_live(request.headers()) => {
            return Redirect::to(&sign_in_path(request.uri())).into_response();
        }
        Err(problem) => return problem.into_response(),
    };
    if !is_read(request.method()) {
        request = match checked(&visitor, request).await {
            Ok(request) => request,
            Err(problem) => return problem.shown_to(&visitor),
        };
    }
    request.extensions_mut().insert(visitor.clone());
    let mut response = next.run(request).await;
    if let Some(problem) = response.extensions_mut().remove::<Problem>() {
        response = problem.shown_to(&visitor);
    }
    if let Some(cookie) = cookie {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    response
}

/// Who asks, and a cookie where the session begins here.
async fn visitor(
    console: &Console,
    headers: &HeaderMap,
    arrival: Arrival,
    is_tls: bool,
) -> Result<(Visitor, Option<HeaderValue>), Problem> {
    let access = &console.parts().access;
    let (theme, held) = (cookie::theme(headers), console.parts().approvals.count_held());
    let sessions = &console.0.sessions;
    for key in cookie::tokens(headers, is_tls).map(SessionKey::of) {
        let Some(session) = sessions.find(&key, !is_live(headers)) else { continue };
        if let Some(principal) = access.still_operator(&session.rank).await? {
            only_local(&principal.rank, headers)?;
            let csrf = Csrf(session.csrf);
            return Ok((Visitor { principal, csrf, session: Some(key), theme, held }, None));
        }
        sessions.end(&key);
    }
    // Without keys there is nobody to sign in as; a session there is only for what changes something.
    let Some(principal) = access.still_operator(&Rank::Open).await? else { return Err(Problem::SignedOut) };
    only_local(&principal.rank, headers)?;
    match arrival {
        Arrival::Opened => {
            let (token, session) = sessions.begin(Rank::Open);
            let (csrf, session) = (Csrf(session.csrf), Some(SessionKey::of(&token)));
            Ok((Visitor { principal, csrf, session, theme, held }, cookie::set(&token, is_tls)))
        }
        // What pages of ours load begins no session of its own; a token that nobody knows changes nothing.
        Arrival::Fetched => {
            Ok((Visitor { principal, csrf: Csrf(random_hex(32)), session: None, theme, held }, None))
        }
        // Pages of others would begin sessions until those of people are over.
        Arrival::Followed | Arrival::Elsewhere => Err(Problem::NotFromHere),
    }
}

/// Without keys, what protects the server is that only this machine reaches it.
fn only_local(rank: &Rank, headers: &HeaderMap) -> Result<(), Problem> {
    if *rank == Rank::Open && !is_of_this_machine(headers) { Err(Problem::ForeignHost) } else { Ok(()) }
}

/// The request as it was, if a page of ours made it.
async fn checked(visitor: &Visitor, request: Request) -> Result<Request, Problem> {
    is_from_here(request.headers())?;
    let is_ours = |token: &str| {
        visitor.session.is_some() && bool::from(token.as_bytes().ct_eq(visitor.csrf.0.as_bytes()))
    };
    if let Some(token) = request.headers().get(CSRF) {
        let is_right = token.to_str().is_ok_and(is_ours);
        return if is_right { Ok(request) } else { Err(Problem::NotFromHere) };
    }
    let kind = request.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    if kind != Some("application/x-www-form-urlencoded") {
        return Err(Problem::NotFromHere);
    }
    let (head, body) = request.into_parts();
    let bytes = to_bytes(body, MOST_BYTES).await.map_err(|_| Problem::TooLarge)?;
    if !Fields::parse(&bytes).get("csrf").is_some_and(is_ours) {
        return Err(Problem::NotFromHere);
    }
    Ok(Request::from_parts(head, Body::from(bytes)))
}

/// Browsers say which page a form or a script is of. One that says nothing is not let in: names of sandboxes
/// may be neighbours of this one, and cookies are sent along from there.
pub(crate) fn is_from_here(headers: &HeaderMap) -> Result<(), Problem> {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    if text(FETCH_SITE).is_some_and(|site| site != "same-origin") {
        return Err(Problem::NotFromHere);
    }
    let origin = text(ORIGIN).and_then(|origin| origin.parse::<Uri>().ok());
    let from = origin.as_ref().and_then(Uri::authority).map(|authority| authority.as_str());
    match (from, text(HOST)) {
        (Some(from), Some(host)) if from.eq_ignore_ascii_case(host) => Ok(()),
        _ => Err(Problem::NotFromHere),
    }
}

/// Whether the browser speaks TLS, to this server or to a proxy before it. A header that says so falsely costs
/// its sender the cookie, and does nothing else.
pub(crate) fn is_tls(request: &Request) -> bool {
    let headers = request.headers();
    let says = |name: &str, word: &str| {
        headers.get(name).and_then(|value| value.to_str().ok()).is_some_and(|value| value.starts_with(word))
    };
    request.extensions().get::<OverTls>().is_some()
        || says("x-forwarded-proto", "https")
        || says(ORIGIN.as_str(), "https:")
}

fn is_live(headers: &HeaderMap) -> bool {
    headers.contains_key(LIVE)
}

fn is_read(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

fn sign_in_path(uri: &Uri) -> String {
    let next = uri.path_and_query().map_or("", |path| path.as_str());
    Fields::default().link("/console/sign-in", &[], &[("next", next)])
}

#[cfg(test)]
#[path = "guard_tests.rs"]
mod tests;

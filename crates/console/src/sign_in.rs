//! Signing in with a key, and out again.

use axum::Router;
use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::http::header::SET_COOKIE;
use axum::response::{AppendHeaders, IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use maud::html;

use crate::fields::{Asked, Fields, MOST_BYTES};
use crate::guard::{is_from_here, is_tls};
use crate::layout::bare;
use crate::problem::Problem;
use crate::sessions::SessionKey;
use crate::{Console, PATH, cookie};

pub(crate) fn router() -> Router<Console> {
    Router::new()
        .route("/console/sign-in", get(form).post(sign_in))
        .route("/console/sign-out", post(sign_out))
}

async fn form(Asked(asked): Asked, headers: HeaderMap) -> Response {
    shown(&asked, &headers, None)
}

fn shown(fields: &Fields, headers: &HeaderMap, problem: Option<&Problem>) -> Response {
    let body = html! {
        h1 { "Sign in" }
        @if let Some(problem) = problem { p.notice.bad role="alert" { (problem) } }
        form.stack method="post" action="/console/sign-in" {
            input type="hidden" name="next" value=(next_of(fields));
            label for="key" { "Key" }
            input id="key" name="key" type="password" autocomplete="current-password" required autofocus
                spellcheck="false";
            button.primary type="submit" { "Sign in" }
        }
        p.hint {
            "The master key, or a key that may use the console: "
            code.whole { "sandgate key create NAME --console" } "."
        }
    };
    let mut response = bare("Sign in", cookie::theme(headers), &body);
    if let Some(problem) = problem {
        *response.status_mut() = problem.status();
    }
    response
}

/// Within the console, wherever the address came from.
fn next_of(fields: &Fields) -> &str {
    let is_ours = |path: &&str| {
        (*path == PATH || path.starts_with("/console/") || path.starts_with("/console?"))
            && path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\')
    };
    fields.get("next").filter(is_ours).unwrap_or(PATH)
}

async fn sign_in(State(console): State<Console>, request: Request) -> Result<Response, Problem> {
    is_from_here(request.headers())?;
    let (headers, is_tls) = (request.headers().clone(), is_tls(&request));
    let body = axum::body::to_bytes(request.into_body(), MOST_BYTES).await;
    let fields = Fields::parse(&body.map_err(|_| Problem::TooLarge)?);
    let key = fields.typed("key").unwrap_or_default();
    let Some(principal) = console.parts().access.operator(key).await? else {
        // The right key is never kept out by those who try wrong ones.
        let problem = match console.0.attempts.take() {
            Ok(()) => {
                tracing::warn!("a wrong key was tried at the console");
                Problem::Forbidden("This key is wrong, or may not use the console.")
            }
            Err(wait) => Problem::TooOften(wait.as_secs().saturating_add(1)),
        };
        return Ok(shown(&fields, &headers, Some(&problem)));
    };
    // Whatever session the browser had before is over.
    end_all(&console, &headers, is_tls);
    tracing::info!(rank = ?principal.rank, "somebody signed in to the console");
    let (token, _) = console.0.sessions.begin(principal.rank);
    let mut response = Redirect::to(next_of(&fields)).into_response();
    if let Some(cookie) = cookie::set(&token, is_tls) {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    Ok(response)
}

/// Nothing but the session is lost by it, so the origin is enough of a proof.
async fn sign_out(State(console): State<Console>, request: Request) -> Result<Response, Problem> {
    is_from_here(request.headers())?;
    end_all(&console, request.headers(), is_tls(&request));
    let forget = AppendHeaders(cookie::FORGET.map(|cookie| (SET_COOKIE, cookie)));
    Ok((forget, Redirect::to("/console/sign-in")).into_response())
}

fn end_all(console: &Console, headers: &HeaderMap, is_tls: bool) {
    for token in cookie::tokens(headers, is_tls) {
        console.0.sessions.end(&SessionKey::of(token));
    }
}

//! Who gets to a page, and what may change something.

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request as HttpRequest, StatusCode};
use sandgate_core::KeyLimits;
use sandgate_store::NewKey;

use crate::testing::{Answer, TestConsole};

const MASTER: &str = "master-of-this-server";

#[tokio::test]
async fn without_a_session_every_page_leads_to_the_sign_in() {
    let console = TestConsole::new(Some(MASTER)).await;
    for path in ["/console", "/console/requests", "/console/nowhere?x=1"] {
        let answer = console.get(path, "").await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{path}");
        assert!(answer.header("location").starts_with("/console/sign-in?next=%2Fconsole"), "{answer:?}");
    }
    // A page that refreshes itself is told, and not led away.
    let request = HttpRequest::get("/console/requests").header("x-console-live", "1");
    assert_eq!(console.send(request, "").await.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn the_master_key_signs_in_and_a_wrong_one_does_not() {
    let console = TestConsole::new(Some(MASTER)).await;
    let wrong = console.sign_in("guess", "/console").await;
    assert_eq!(wrong.status, StatusCode::FORBIDDEN);
    assert_eq!(wrong.header("set-cookie"), "");
    assert!(!wrong.body.contains("guess"), "the wrong key is not said back");

    let right = console.sign_in(MASTER, "/console/requests?q=a").await;
    assert_eq!(right.header("location"), "/console/requests?q=a");
    let set = right.header("set-cookie");
    for word in ["HttpOnly", "SameSite=Strict", "Path=/console"] {
        assert!(set.contains(word), "{set}");
    }
    let page = console.get("/console/requests", &right.cookie()).await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(page.body.contains("<h1>Requests</h1>"));
    let policy = page.header("content-security-policy");
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    assert_eq!(page.header("x-content-type-options"), "nosniff");
    assert_eq!(page.header("cache-control"), "no-store");
}

#[tokio::test]
async fn nobody_is_led_out_of_the_console() {
    let console = TestConsole::new(Some(MASTER)).await;
    for next in ["//evil.example", "https://evil.example", "/v1/files", "/console\\..", "/consoles", ""] {
        let answer = console.sign_in(MASTER, next).await;
        assert_eq!(answer.header("location"), "/console", "{next}");
    }
}

#[tokio::test]
async fn too_many_wrong_keys_have_to_wait() {
    let console = TestConsole::new(Some(MASTER)).await;
    for _ in 0..10 {
        assert_eq!(console.sign_in("guess", "").await.status, StatusCode::FORBIDDEN);
    }
    assert_eq!(console.sign_in("guess", "").await.status, StatusCode::TOO_MANY_REQUESTS);
    // They keep out nobody else.
    assert_eq!(console.sign_in(MASTER, "").await.status, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn a_session_ends_with_its_key_and_by_signing_out() {
    let console = TestConsole::new(Some(MASTER)).await;
    let limits = KeyLimits { console: true, ..KeyLimits::default() };
    let new = NewKey { name: "ann".to_owned(), limits, ..NewKey::default() };
    let (record, secret) = console.store.create_key(new).await.unwrap();
    let ann = console.sign_in(secret.expose(), "").await.cookie();
    let operator = console.sign_in(MASTER, "").await.cookie();
    assert_eq!(console.get("/console/requests", &ann).await.status, StatusCode::OK);
    console.store.revoke_key(&record.id).await.unwrap();
    assert_eq!(console.get("/console/requests", &ann).await.status, StatusCode::SEE_OTHER);

    assert_eq!(console.get("/console/requests", &operator).await.status, StatusCode::OK);
    let out = console.post("/console/sign-out", &operator, "").await;
    assert!(out.header("set-cookie").contains("Max-Age=0"), "{out:?}");
    assert_eq!(console.get("/console/requests", &operator).await.status, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn a_server_without_keys_is_for_this_machine_alone() {
    let console = TestConsole::new(None).await;
    let page = console.get("/console/requests", "").await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(page.body.contains("This server has no keys"));
    let request = HttpRequest::get("/console/requests").header("host", "sandgate.evil.example");
    assert_eq!(console.send(request, "").await.status, StatusCode::FORBIDDEN);
}

/// As a browser says who asks: from where, how, and for what.
async fn arrive(console: &TestConsole, cookie: &str, said: [&str; 3]) -> Answer {
    let mut request = HttpRequest::get("/console/requests?q=a");
    for (name, value) in ["sec-fetch-site", "sec-fetch-mode", "sec-fetch-dest"].into_iter().zip(said) {
        request = request.header(name, value);
    }
    console.send(request, cookie).await
}

#[tokio::test]
async fn pages_of_others_begin_no_session() {
    let console = TestConsole::new(None).await;
    let own = arrive(&console, "", ["none", "navigate", "document"]).await;
    assert!(!own.cookie().is_empty());
    for site in ["cross-site", "same-site"] {
        for (mode, dest) in [("no-cors", "image"), ("cors", "empty"), ("navigate", "iframe")] {
            let refused = arrive(&console, "", [site, mode, dest]).await;
            assert_eq!((refused.status, refused.cookie()), (StatusCode::FORBIDDEN, String::new()), "{mode}");
        }
    }
    // Nor does what a page of ours loads where the browser keeps no cookies; it may be read, and that is all.
    let loaded = arrive(&console, "", ["same-origin", "cors", "empty"]).await;
    assert_eq!((loaded.status, loaded.cookie()), (StatusCode::OK, String::new()));
    let said = format!("csrf={}", loaded.csrf());
    assert_eq!(console.post("/console/requests", "", &said).await.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn a_link_from_elsewhere_leads_to_its_page() {
    for master in [None, Some(MASTER)] {
        let console = TestConsole::new(master).await;
        let cookie = match master {
            Some(master) => console.sign_in(master, "").await.cookie(),
            None => console.get("/console", "").await.cookie(),
        };
        // Without the cookie, which browsers do not send along then.
        let first = arrive(&console, "", ["cross-site", "navigate", "document"]).await;
        assert_eq!((first.status, first.cookie()), (StatusCode::OK, String::new()));
        assert!(first.body.contains("content=\"0; url=/console/requests?q=a\""), "{}", first.body);
        let then = arrive(&console, &cookie, ["same-origin", "navigate", "document"]).await;
        assert!(then.body.contains("<h1>Requests</h1>"), "{}", then.body);
    }
}

#[tokio::test]
async fn a_cookie_of_a_neighbour_does_not_keep_out_who_is_signed_in() {
    let console = TestConsole::new(Some(MASTER)).await;
    let own = console.sign_in(MASTER, "").await.cookie();
    let planted = format!("sandgate_console=planted; {own}");
    assert_eq!(console.get("/console/requests", &planted).await.status, StatusCode::OK);
    // Over TLS the plain name counts for nothing, and the other can be set by this host alone.
    let request = HttpRequest::get("/console/requests").header("x-forwarded-proto", "https");
    assert_eq!(console.send(request, &own).await.status, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn what_changes_something_must_come_from_a_page_of_ours() {
    let console = TestConsole::new(Some(MASTER)).await;
    let cookie = console.sign_in(MASTER, "").await.cookie();
    let csrf = console.get("/console/requests", &cookie).await.csrf();
    let form = "application/x-www-form-urlencoded";
    let ask = async |origin: &str, site: &str, kind: &str, header: &str, body: String| -> Answer {
        let mut request = HttpRequest::post("/console/echo").header("content-type", kind);
        for (name, value) in [("origin", origin), ("sec-fetch-site", site), ("x-csrf-token", header)] {
            if !value.is_empty() {
                request = request.header(name, value);
            }
        }
        console.send_to(&echo(&console), request.body(Body::from(body)).unwrap(), &cookie).await
    };
    let good = format!("csrf={csrf}&text=hello");
    let here = "http://localhost";
    let done = ask(here, "same-origin", form, "", good.clone()).await;
    assert_eq!((done.status, done.body.as_str()), (StatusCode::OK, good.as_str()));
    assert_eq!(ask(here, "", "text/plain", &csrf, String::new()).await.status, StatusCode::OK);
    for (origin, site, kind, header, body) in [
        ("", "", form, "", good.clone()),
        ("null", "", form, "", good.clone()),
        ("http://evil.localhost", "", form, "", good.clone()),
        ("http://localhost:81", "", form, "", good.clone()),
        (here, "same-site", form, "", good.clone()),
        (here, "cross-site", form, "", good.clone()),
        (here, "same-origin", form, "", "text=hello".to_owned()),
        (here, "same-origin", form, "", format!("csrf={}", &csrf[1..])),
        (here, "same-origin", form, "wrong", good.clone()),
        (here, "same-origin", "text/plain", "", good.clone()),
    ] {
        let answer = ask(origin, site, kind, header, body).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{origin} {site} {kind} {header}");
    }
}

/// A page behind the guard that says back what it was sent.
fn echo(console: &TestConsole) -> Router {
    let says = async |request: axum::extract::Request| {
        to_bytes(request.into_body(), usize::MAX).await.unwrap_or_default()
    };
    let guard = axum::middleware::from_fn_with_state(console.console.clone(), super::guard);
    Router::new().route("/console/echo", axum::routing::post(says)).route_layer(guard)
}

//! The HTTP proxy that programs find in their environment.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use http::{Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;

use super::answers::{Answer, BoxError, Unanswered, refusal, text};
use super::breaking::{Breaking, Cut};
use super::forward::Forwarder;
use super::headers::{host, split};
use crate::Way;
use crate::denied::{NoConnection, Wanted, Why};
use crate::first::Replayed;
use crate::sandbox::{SandboxEgress, read_host};
use crate::tunnel::{self, Stream};

/// The line and the headers of one request.
const LONGEST_HEAD: usize = 64 << 10;
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) async fn serve(sandbox: Arc<SandboxEgress>, listener: TcpListener) {
    let accepting = Arc::clone(&sandbox);
    accepting
        .accept(listener, move |stream| {
            let sandbox = Arc::clone(&sandbox);
            async move {
                let forwarder = Arc::new(Forwarder::proxy(Arc::clone(&sandbox)));
                let client = Breaking::new(stream);
                let inside = Inside::of(&client);
                serve_on(client, inside, move |request| {
                    let (sandbox, forwarder) = (Arc::clone(&sandbox), Arc::clone(&forwarder));
                    async move { respond(&sandbox, &forwarder, request).await }
                })
                .await;
            }
        })
        .await;
}

/// What is to be known of a connection from inside while it is served.
pub(crate) struct Inside {
    cut: Cut,
    gone: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl Inside {
    pub(crate) fn of(client: &Breaking) -> Self {
        Self { cut: client.cut(), gone: Box::pin(client.gone()) }
    }
}

/// Requests of one connection, one after the other. An answer that does not come to its end is cut off; requests can ask
/// for the same by the [`Cut`] among their extensions.
pub(crate) async fn serve_on<C, F>(client: C, inside: Inside, serve: impl Fn(Request<Incoming>) -> F + Send)
where
    C: Stream,
    F: Future<Output = Answer> + Send,
{
    let Inside { cut, gone } = inside;
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(cut.clone());
        let (answer, cut) = (serve(request), cut.clone());
        async move {
            let answer = answer.await;
            if answer.extensions().get::<Unanswered>().is_some() {
                return Err(Unanswered);
            }
            Ok(until_cut(answer, cut))
        }
    });
    let serving = http1::Builder::new()
        .preserve_header_case(true)
        .max_buf_size(LONGEST_HEAD)
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        // Who has asked and says so by an end of its own still waits for the answer.
        .half_close(true)
        .serve_connection(TokioIo::new(client), service)
        .with_upgrades();
    tokio::select! {
        // What goes wrong here is the client's doing, and the client knows.
        _ = serving => {}
        () = gone => {}
    }
}

/// A body that does not come to its end takes the connection with it.
fn until_cut(answer: Answer, cut: Cut) -> Answer {
    let cut_off = move |error: BoxError| {
        cut.set();
        error
    };
    answer.map(|body| body.map_err(cut_off).boxed())
}

async fn respond(sandbox: &Arc<SandboxEgress>, forwarder: &Forwarder, request: Request<Incoming>) -> Answer {
    if request.method() == Method::CONNECT {
        return match connect(sandbox, request).await {
            Ok(answer) => answer,
            Err(why) => refusal(&why),
        };
    }
    match request.uri().scheme_str() {
        Some("http") => forwarder.absolute(request).await,
        Some(_) => {
            sandbox.own_answer_turn().await;
            text(
                StatusCode::BAD_REQUEST,
                "This proxy takes https requests through CONNECT only, so that nobody but the two ends can read them.",
            )
        }
        None => match &sandbox.registries {
            Some(registries) if sandbox.policy.now().has_registries() => {
                registries.respond(sandbox, request).await
            }
            _ => {
                sandbox.own_answer_turn().await;
                text(
                    StatusCode::BAD_REQUEST,
                    "This is the HTTP proxy of the sandbox. Set HTTP_PROXY and HTTPS_PROXY to its address, or give the whole URL.",
                )
            }
        },
    }
}

async fn connect(sandbox: &Arc<SandboxEgress>, request: Request<Incoming>) -> Result<Answer, NoConnection> {
    let wanted = match target(&request) {
        Ok(wanted) => sandbox.by_name(wanted),
        Err(why) => return Err(sandbox.refused(Way::Connect, why).await),
    };
    let ticket = sandbox.ticket(Way::Connect, &wanted).await?;
    let (upstream, ticket) = sandbox.connect(&wanted, ticket).await?;
    let sandbox = Arc::clone(sandbox);
    let ending = sandbox.ending.clone();
    tokio::spawn(ending.run_until_cancelled_owned(async move {
        let Ok(upgraded) = hyper::upgrade::on(request).await else { return };
        let Ok(parts) = upgraded.downcast::<TokioIo<Breaking>>() else { return };
        let client = Replayed::new(parts.read_buf.to_vec(), parts.io.into_inner().into_inner().await);
        tunnel::run(&sandbox, client, wanted, upstream, ticket).await;
    }));
    Ok(Response::new(Empty::new().map_err(|never| match never {}).boxed()))
}

/// `CONNECT host:port`; a Host header, where there is one, must say the same.
fn target(request: &Request<Incoming>) -> Result<Wanted, NoConnection> {
    let asked = request.uri().authority().map(http::uri::Authority::as_str).unwrap_or_default();
    let Some((name, Some(port))) = split(asked) else {
        let why = "CONNECT needs a host and a port, as in 'example.org:443'";
        return Err(not_a_host(asked, why));
    };
    let wanted = read_host(name, port)?;
    let Ok(said) = host(request) else { return Err(not_a_host(asked, "its header 'Host' cannot be read")) };
    match said {
        Some(said) if !same(said, &wanted) => {
            Err(wanted.denied(Why::Disagrees { said: said.chars().take(80).collect() }))
        }
        _ => Ok(wanted),
    }
}

fn not_a_host(asked: &str, why: &str) -> NoConnection {
    let shown: String = asked.chars().take(80).collect();
    let (to, host) = (shown.clone(), shown);
    NoConnection::Denied(crate::denied::Denied { to, host, why: Why::NotAHost(why.to_owned()) })
}

/// Whether a Host header names the destination. Its port may be left out.
pub(super) fn same(said: &str, wanted: &Wanted) -> bool {
    let Some((name, port)) = split(said) else { return false };
    let port = port.unwrap_or(wanted.port);
    read_host(name, port).is_ok_and(|said| said == *wanted)
}

/// What a request that names its whole URL asks for.
pub(super) fn absolute_target(request: &Request<Incoming>) -> Result<Wanted, NoConnection> {
    let asked = request.uri().authority().map(http::uri::Authority::as_str).unwrap_or_default();
    let Some((name, port)) = split(asked) else {
        return Err(not_a_host(
            asked,
            "the URL has no host that can be read; it may hold no name and password",
        ));
    };
    let wanted = read_host(name, port.unwrap_or(80))?;
    match host(request) {
        Ok(Some(said)) if same(said, &wanted) => Ok(wanted),
        Ok(None) => Ok(wanted),
        Ok(Some(said)) => Err(wanted.denied(Why::Disagrees { said: said.chars().take(80).collect() })),
        Err(()) => Err(not_a_host(asked, "its header 'Host' cannot be read, or is there twice")),
    }
}

/// The value for the Host header of a destination.
pub(super) fn host_value(wanted: &Wanted, usual: u16) -> Option<header::HeaderValue> {
    let text = if wanted.port == usual { wanted.host.to_string() } else { wanted.to_string() };
    text.parse().ok()
}

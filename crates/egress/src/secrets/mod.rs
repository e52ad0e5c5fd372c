//! Secrets of domains: requests to such a domain are opened here, the placeholder in them is exchanged for the
//! value, and what comes back is searched for it, so that it never gets inside. No other domain's TLS is opened.

mod body;
mod forms;
mod frames;
mod passing;
mod placeholder;
mod search;
mod unsaid;
mod watched;

use std::sync::Arc;

use http::{HeaderValue, Request, Response, StatusCode, header};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use hyper::ext::ReasonPhrase;
use sandgate_core::network::DomainSecret;
use tokio::net::TcpStream;

use crate::denied::{NoConnection, Wanted, Why};
use crate::first::Replayed;
use crate::http::{Answer, Breaking, Forwarder, Inside, Upstream, refusal, serve_on};
use crate::live::Effective;
use crate::meter::Ticket;
use crate::sandbox::SandboxEgress;

pub(crate) use unsaid::Unsaid;
pub(crate) use watched::Watched;

/// Whether connections by TLS to this place are opened.
pub(crate) fn intercepts(sandbox: &SandboxEgress, wanted: &Wanted) -> bool {
    !secrets_of(&sandbox.policy.now(), wanted).is_empty()
}

/// Each with every placeholder of its name: where several domains have secrets of one name, the variable inside can
/// hold the placeholder of one of them only, and each domain gets its own value for it.
fn secrets_of(now: &Effective, wanted: &Wanted) -> Vec<DomainSecret> {
    let Some(name) = wanted.name() else { return Vec::new() };
    let mut all = Vec::new();
    for secret in now.policy.secrets_for(name) {
        let namesakes = now.policy.secrets.iter().filter(|one| one.name == secret.name);
        all.extend(
            namesakes.map(|one| DomainSecret { placeholder: one.placeholder.clone(), ..secret.clone() }),
        );
    }
    all
}

pub(crate) async fn intercept(
    sandbox: &Arc<SandboxEgress>,
    client: Replayed<TcpStream>,
    wanted: Wanted,
    upstream: TcpStream,
    mut ticket: Ticket,
) {
    let name = wanted.name().map(ToString::to_string).unwrap_or_default();
    let (head, client) = client.into_parts();
    let client = Breaking::new(client);
    let inside = Inside::of(&client);
    let client = Replayed::new(head, client);
    let accepted = match sandbox.tls.authority().and_then(|authority| authority.acceptor(&name)) {
        Ok(acceptor) => acceptor.accept(client).await.map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    let client = match accepted {
        Ok(client) => client,
        Err(why) => {
            let why = format!("TLS with the program inside failed: {why}");
            return ticket.cut(&NoConnection::Failed { to: wanted.to_string(), why });
        }
    };
    let opened = Upstream::open(sandbox, wanted.clone(), upstream, ticket, true).await;
    let forwarder = Arc::new(match opened {
        Ok(first) => Forwarder::fixed(Arc::clone(sandbox), wanted, true, Some(first)),
        // It is tried again for the first request, which can be told what is wrong.
        Err(_) => Forwarder::fixed(Arc::clone(sandbox), wanted, true, None),
    });
    serve_on(client, inside, move |request| {
        let forwarder = Arc::clone(&forwarder);
        async move { forwarder.straight(request).await }
    })
    .await;
}

/// Values in place of placeholders, in what may carry them: headers and the URL. Gives what must not come back, of the
/// same policy: by the time of the answer there may be another, that knows nothing of what was put in.
pub(crate) fn put_in(
    sandbox: &SandboxEgress,
    wanted: &Wanted,
    request: &mut Request<Incoming>,
    tls: bool,
) -> Result<Arc<Unsaid>, NoConnection> {
    let now = sandbox.policy.now();
    let secrets = secrets_of(&now, wanted);
    if secrets.is_empty() {
        return Ok(Arc::new(Unsaid::new([].iter())));
    }
    let head = placeholder::head_of(request);
    for secret in &secrets {
        if !head.iter().any(|text| placeholder::is_in(secret, text)) {
            continue;
        }
        let name = secret.name.clone();
        if !tls {
            return Err(wanted.denied(Why::SecretInTheClear { name }));
        }
        let Some(value) = &secret.value else { return Err(wanted.denied(Why::SecretLost { name })) };
        placeholder::exchange(request, secret, value);
    }
    if tls {
        // What is compressed cannot be searched, and what comes in parts not either: a server may give the whole to
        // whoever asks for a part.
        let headers = request.headers_mut();
        headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        for name in [header::SEC_WEBSOCKET_EXTENSIONS, header::RANGE, header::IF_RANGE] {
            headers.remove(name);
        }
    }
    Ok(unsaid(sandbox, &now, wanted))
}

/// What must not come inside, as servers may write it.
fn unsaid(sandbox: &SandboxEgress, now: &Effective, wanted: &Wanted) -> Arc<Unsaid> {
    let secrets = wanted.name().map(|name| now.policy.secrets_for(name)).unwrap_or_default();
    sandbox.tls.unsaid(&secrets)
}

/// The answer of such a domain, with placeholders where it repeats values.
pub(crate) fn taken_out(unsaid: Arc<Unsaid>, wanted: &Wanted, mut answer: Response<Incoming>) -> Answer {
    // It was asked for as it is.
    if answer.headers().get(header::CONTENT_ENCODING).is_some_and(|encoding| encoding != "identity") {
        let why = "its answer is compressed, and cannot be searched for secrets".to_owned();
        return refusal(&NoConnection::Failed { to: wanted.to_string(), why });
    }
    // Nor as it is: of a value in two pieces, neither is one.
    if answer.status() == StatusCode::PARTIAL_CONTENT {
        let why = "its answer is a part, and a part cannot be searched for secrets".to_owned();
        return refusal(&NoConnection::Failed { to: wanted.to_string(), why });
    }
    // The words of the status line are the server's own too, and nobody needs them.
    answer.extensions_mut().remove::<ReasonPhrase>();
    unsaid.clean(answer.headers_mut());
    // The length may change. Where no body follows, as to HEAD, it is what the server says of another answer.
    if answer.status() != StatusCode::SWITCHING_PROTOCOLS && !answer.body().is_end_stream() {
        answer.headers_mut().remove(header::CONTENT_LENGTH);
    }
    let search = Arc::clone(&unsaid.text);
    answer.map(|incoming| body::Searched::new(incoming, search).map_err(Into::into).boxed())
}

//! HTTP from inside: a proxy for programs that know of it, and the same care for plain requests that were sent
//! straight to a server.

mod answers;
mod breaking;
mod forward;
mod headers;
mod proxy;
mod upstream;

pub(crate) use answers::{Answer, BoxError, raw_refusal, refusal, text};
pub(crate) use breaking::Breaking;
pub(crate) use forward::Forwarder;
pub use headers::split;
pub(crate) use proxy::{Inside, serve, serve_on};
pub(crate) use upstream::Upstream;

use std::sync::Arc;

use tokio::net::TcpStream;

use crate::denied::Wanted;
use crate::first::Replayed;
use crate::meter::Ticket;
use crate::sandbox::SandboxEgress;

/// Requests in a connection that was made straight to `wanted`: each must name it.
pub(crate) async fn serve_plain(
    sandbox: &Arc<SandboxEgress>,
    client: Replayed<TcpStream>,
    wanted: Wanted,
    upstream: TcpStream,
    ticket: Ticket,
) {
    let Ok(first) = Upstream::open(sandbox, wanted.clone(), upstream, ticket, false).await else { return };
    let forwarder = Arc::new(Forwarder::fixed(Arc::clone(sandbox), wanted, false, Some(first)));
    let (head, client) = client.into_parts();
    let client = Breaking::new(client);
    let inside = Inside::of(&client);
    serve_on(Replayed::new(head, client), inside, move |request| {
        let forwarder = Arc::clone(&forwarder);
        async move { forwarder.straight(request).await }
    })
    .await;
}

//! Connections of programs that know of no proxy: the address they were made to says where they want to go.

use std::net::IpAddr;
use std::sync::Arc;

use tokio::net::{TcpListener, TcpStream};

use crate::Way;
use crate::denied::{Host, Wanted};
use crate::dns::is_synthetic;
use crate::first::Replayed;
use crate::sandbox::SandboxEgress;
use crate::tunnel;

pub(crate) async fn serve(sandbox: Arc<SandboxEgress>, listener: TcpListener) {
    let accepting = Arc::clone(&sandbox);
    accepting
        .accept(listener, move |stream| {
            let sandbox = Arc::clone(&sandbox);
            async move { connection(&sandbox, stream).await }
        })
        .await;
}

async fn connection(sandbox: &Arc<SandboxEgress>, stream: TcpStream) {
    let Some(wanted) = destination(sandbox, &stream) else { return };
    let client = Replayed::new(Vec::new(), stream);
    let ticket = match sandbox.ticket(Way::Transparent, &wanted).await {
        Ok(ticket) => ticket,
        Err(why) => return tunnel::refuse(client, &why).await,
    };
    match sandbox.connect(&wanted, ticket).await {
        Ok((upstream, ticket)) => tunnel::run(sandbox, client, wanted, upstream, ticket).await,
        Err(why) => tunnel::refuse(client, &why).await,
    }
}

/// None: the sandbox's own loopback, or an address that was given out too long ago to be remembered.
fn destination(sandbox: &SandboxEgress, stream: &TcpStream) -> Option<Wanted> {
    let local = stream.local_addr().ok()?;
    let address: IpAddr = local.ip().to_canonical();
    let host = if is_synthetic(address) {
        Host::Name(sandbox.names.name_of(address)?)
    } else if address.is_loopback() {
        return None;
    } else {
        Host::Address(address)
    };
    Some(Wanted { host, port: local.port() })
}

//! A connection from inside whose destination is known: what it speaks must agree with that, then its bytes pass.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use sandgate_core::network::{Destination, HostName};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, copy_bidirectional_with_sizes};
use tokio::net::TcpStream;

use crate::denied::{Host, NoConnection, Wanted, Why};
use crate::first::{Replayed, Speaks};
use crate::http;
use crate::meter::Ticket;
use crate::metered::Metered;
use crate::sandbox::SandboxEgress;
use crate::secrets;

/// A fatal TLS alert "access denied": the one that says in a program's error message what it is.
const ALERT: [u8; 7] = [21, 3, 3, 0, 2, 2, 49];
const BUFFER: usize = 128 << 10;
/// The port where many hosts are served under one address, by the name in a request.
const HTTP: u16 = 80;
/// For who is refused to say what it speaks, to hear it in the same words.
const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) trait Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static {}
impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> Stream for S {}

/// To its end.
pub(crate) async fn run<C: Stream>(
    sandbox: &Arc<SandboxEgress>,
    mut client: Replayed<C>,
    wanted: Wanted,
    upstream: TcpStream,
    mut ticket: Ticket,
) {
    let address = ticket.address();
    let heard = tokio::select! {
        biased;
        denied = sandbox.revoked(&wanted, address) => return ticket.cut(&denied.into()),
        found = client.look() => Some(found),
        _ = upstream.readable(), if client.is_untouched() => None,
    };
    let speaks = match heard {
        Some(found) => found,
        // Either side may speak first; who is spoken to first has no name to give.
        None if client.is_untouched() => Ok(Speaks::Other),
        None => client.look().await,
    };
    match speaks {
        Ok(Speaks::Tls(name)) => match check_name(sandbox, &wanted, name.as_deref(), ticket.address()) {
            Ok(()) if secrets::intercepts(sandbox, &wanted) => {
                secrets::intercept(sandbox, client, wanted, upstream, ticket).await;
            }
            Ok(()) => relay(sandbox, client, &wanted, upstream, ticket).await,
            Err(denied) => {
                ticket.cut(&denied);
                alert(client).await;
            }
        },
        Ok(Speaks::Http) => http::serve_plain(sandbox, client, wanted, upstream, ticket).await,
        // Where names are all that is looked at, what has no readable name would be any.
        Ok(Speaks::Other) if wanted.port == HTTP && wanted.name().is_some() && !client.is_untouched() => {
            ticket.cut(&wanted.denied(Why::NotHttp));
        }
        Ok(Speaks::Other) => relay(sandbox, client, &wanted, upstream, ticket).await,
        Err(error) => {
            let why = format!("its first message is not to be understood ({})", error.kind());
            ticket.cut(&NoConnection::Failed { to: wanted.to_string(), why });
        }
    }
}

/// The name inside a connection must be the one it was made to. One that was made to an address must be allowed
/// by both.
pub(crate) fn check_name(
    sandbox: &SandboxEgress,
    wanted: &Wanted,
    said: Option<&str>,
    reached: Option<IpAddr>,
) -> Result<(), NoConnection> {
    let Some(said) = said else { return Ok(()) };
    let disagrees = || wanted.denied(Why::Disagrees { said: said.chars().take(80).collect() });
    match &wanted.host {
        Host::Name(name) => match said.parse::<HostName>() {
            Ok(said) if said == *name => Ok(()),
            _ => Err(disagrees()),
        },
        Host::Address(address) => {
            if sandgate_core::network::parse_address(said) == Some(*address) {
                return Ok(());
            }
            let name: HostName = said.parse().map_err(|_| disagrees())?;
            let address = reached.unwrap_or(*address);
            let to = Destination { name: Some(&name), address: Some(address), port: wanted.port };
            let named = Wanted { host: Host::Name(name.clone()), port: wanted.port };
            sandbox.policy.now().decide(to).map_err(|refusal| named.denied(Why::Rules(refusal)))
        }
    }
}

async fn relay<C: Stream>(
    sandbox: &Arc<SandboxEgress>,
    mut client: Replayed<C>,
    wanted: &Wanted,
    upstream: TcpStream,
    mut ticket: Ticket,
) {
    let limits = sandbox.policy.now().limits;
    let address = ticket.address();
    let mut upstream = Metered::new(upstream, Arc::clone(ticket.meter()), Arc::clone(&ticket.counts), limits);
    let passing = copy_bidirectional_with_sizes(&mut client, &mut upstream, BUFFER, BUFFER);
    tokio::select! {
        biased;
        denied = sandbox.revoked(wanted, address) => ticket.cut(&denied.into()),
        ended = passing => if let Err(error) = ended {
            ticket.cut(&ended_by(&error, wanted, limits.bytes));
        },
    }
}

pub(crate) fn ended_by(error: &io::Error, wanted: &Wanted, limit: Option<u64>) -> NoConnection {
    match limit {
        Some(limit) if error.kind() == io::ErrorKind::QuotaExceeded => wanted.denied(Why::Spent { limit }),
        _ => NoConnection::Failed { to: wanted.to_string(), why: format!("it broke off ({})", error.kind()) },
    }
}

async fn alert<C: Stream>(mut client: Replayed<C>) {
    // Whoever does not read it finds the connection closed.
    let _ = client.write_all(&ALERT).await;
    let _ = client.shutdown().await;
}

/// Says no in the words of whatever the connection speaks.
pub(crate) async fn refuse<C: Stream>(mut client: Replayed<C>, why: &NoConnection) {
    match tokio::time::timeout(PATIENCE, client.look()).await {
        Ok(Ok(Speaks::Tls(_))) => alert(client).await,
        Ok(Ok(Speaks::Http)) => {
            let _ = client.write_all(&http::raw_refusal(why)).await;
            let _ = client.shutdown().await;
        }
        Ok(Ok(Speaks::Other) | Err(_)) | Err(_) => {}
    }
}

//! A connection from inside whose destination is known: what it speaks must agree with that, then its bytes pass.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use sandgate_core::network::{Destination, HostName};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::denied::{Host, NoConnection, Wanted, Why};
use crate::first::{self, Replayed, Speaks};
use crate::greetings::{Greetings, Next, Renamed};
use crate::http;
use crate::meter::Ticket;
use crate::relay::{Account, break_off, relay};
use crate::sandbox::SandboxEgress;
use crate::secrets;
use crate::watch::Watch;

/// A fatal TLS alert "access denied": the one that says in a program's error message what it is.
const ALERT: [u8; 7] = [21, 3, 3, 0, 2, 2, 49];
/// After which the beginning of a request may be the whole of something else, which waits for an answer.
const PAUSE: Duration = Duration::from_millis(250);
/// The port where many hosts are served under one address, by the name in a request.
const HTTP: u16 = 80;

/// For who is refused to say what it speaks, to hear it in the same words. Who waits for the other to begin hears it
/// as an end.
const REFUSAL: Duration = Duration::from_secs(2);

pub(crate) trait Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static {}
impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> Stream for S {}

/// To its end.
pub(crate) async fn run(
    sandbox: &Arc<SandboxEgress>,
    mut client: Replayed<TcpStream>,
    wanted: Wanted,
    upstream: TcpStream,
    mut ticket: Ticket,
) {
    let address = ticket.address();
    // Where names are all that is looked at, what has no readable name would be any.
    let by_name = wanted.port == HTTP && wanted.name().is_some();
    let pause = if by_name { first::PATIENCE } else { PAUSE };
    let heard = tokio::select! {
        biased;
        denied = sandbox.revoked(&wanted, address) => return ticket.cut(&denied.into()),
        found = client.look(pause) => Some(found),
        _ = upstream.readable(), if client.is_untouched() => None,
    };
    let speaks = match heard {
        Some(found) => found,
        // Either side may speak first; what the other then says is looked at all the same.
        None if client.is_untouched() => {
            let watch = if by_name { Watch::ForAnything } else { Watch::for_requests(Vec::new()) };
            return pass(sandbox, client, &wanted, upstream, ticket, watch).await;
        }
        None => client.look(pause).await,
    };
    match speaks {
        Ok(Speaks::Tls(name)) => match check_name(sandbox, &wanted, name.as_deref(), ticket.address()) {
            Ok(()) if secrets::intercepts(sandbox, &wanted) => {
                secrets::intercept(sandbox, client, wanted, upstream, ticket).await;
            }
            Ok(()) => match after_hello(client.seen()) {
                Ok(watch) => pass(sandbox, client, &wanted, upstream, ticket, watch).await,
                Err(renamed) => {
                    ticket.cut(&wanted.denied(disagrees(&renamed)));
                    alert(client).await;
                }
            },
            Err(denied) => {
                ticket.cut(&denied);
                alert(client).await;
            }
        },
        Ok(Speaks::Http) => http::serve_plain(sandbox, client, wanted, upstream, ticket).await,
        Ok(Speaks::Foreign) => {
            let why = wanted.denied(Why::NotRead);
            ticket.cut(&why);
            say(client, &why).await;
        }
        Ok(Speaks::Other | Speaks::Unclear) if by_name && !client.is_untouched() => {
            ticket.cut(&wanted.denied(Why::NotHttp));
        }
        Ok(Speaks::Other) => pass(sandbox, client, &wanted, upstream, ticket, Watch::No).await,
        Ok(Speaks::Unclear) => {
            let watch = Watch::for_requests(client.seen().to_vec());
            pass(sandbox, client, &wanted, upstream, ticket, watch).await;
        }
        Err(error) => {
            let why = format!("its first message is not to be understood ({})", error.kind());
            ticket.cut(&NoConnection::Failed { to: wanted.to_string(), why });
        }
    }
}

/// What came with the first hello may hold the second already.
fn after_hello(seen: &[u8]) -> Result<Watch, Renamed> {
    let mut greetings = Greetings::default();
    match greetings.read(seen)? {
        Next::Look => Ok(Watch::ForGreetings(greetings)),
        Next::Free => Ok(Watch::No),
    }
}

fn disagrees(renamed: &Renamed) -> Why {
    Why::Disagrees { said: renamed.said.chars().take(80).collect() }
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

async fn pass(
    sandbox: &Arc<SandboxEgress>,
    client: Replayed<TcpStream>,
    wanted: &Wanted,
    upstream: TcpStream,
    mut ticket: Ticket,
    watch: Watch,
) {
    let limits = sandbox.policy.now().limits;
    let address = ticket.address();
    let account = Account {
        meter: Arc::clone(ticket.meter()),
        counts: Arc::clone(&ticket.counts),
        limits,
        pipes: Arc::clone(&sandbox.crowd.pipes),
    };
    let (head, client) = client.into_parts();
    let cut = tokio::select! {
        biased;
        denied = sandbox.revoked(wanted, address) => Some(denied.into()),
        ended = relay(&client, &upstream, &head, watch, &account) => {
            ended.err().map(|error| ended_by(&error, wanted, limits.bytes))
        }
    };
    if let Some(why) = cut {
        ticket.cut(&why);
        break_off(&client);
        break_off(&upstream);
    }
}

pub(crate) fn ended_by(error: &io::Error, wanted: &Wanted, limit: Option<u64>) -> NoConnection {
    if let Some(renamed) = error.get_ref().and_then(|cause| cause.downcast_ref::<Renamed>()) {
        return wanted.denied(disagrees(renamed));
    }
    match limit {
        Some(limit) if error.kind() == io::ErrorKind::QuotaExceeded => wanted.denied(Why::Spent { limit }),
        _ if error.kind() == io::ErrorKind::PermissionDenied => wanted.denied(Why::LateRequest),
        _ => NoConnection::Failed { to: wanted.to_string(), why: format!("it broke off ({})", error.kind()) },
    }
}

async fn alert<C: Stream>(mut client: Replayed<C>) {
    // Whoever does not read it finds the connection closed.
    let _ = client.write_all(&ALERT).await;
    let _ = client.shutdown().await;
}

async fn say<C: Stream>(mut client: Replayed<C>, why: &NoConnection) {
    let _ = client.write_all(&http::raw_refusal(why)).await;
    let _ = client.shutdown().await;
}

/// Says no in the words of whatever the connection speaks.
pub(crate) async fn refuse<C: Stream>(mut client: Replayed<C>, why: &NoConnection) {
    match tokio::time::timeout(REFUSAL, client.look(PAUSE)).await {
        Ok(Ok(Speaks::Tls(_))) => alert(client).await,
        Ok(Ok(Speaks::Http | Speaks::Foreign)) => say(client, why).await,
        Ok(Ok(Speaks::Other | Speaks::Unclear) | Err(_)) | Err(_) => {}
    }
}

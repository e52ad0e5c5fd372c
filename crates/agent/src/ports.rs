//! Ports of the sandbox's loopback: a connection to a program that listens there, and one that is only there to be
//! found.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use sandgate_agent::protocol::{FailureKind, FromAgent};
use tokio::io::{AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};

use crate::connection::{Incoming, Outgoing};

/// For whoever connects to take what it is told; one at a time, as nobody has to hear it.
const LONGEST_TELLING: Duration = Duration::from_secs(1);
/// Until connections are taken again, when none can be.
const REST: Duration = Duration::from_millis(100);

/// Carries bytes both ways until both sides have ended; each may end before the other.
pub(crate) async fn connect(port: u16, incoming: Incoming, mut outgoing: Outgoing) {
    let inside = match TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await {
        Ok(inside) => Ok(inside),
        Err(_) => TcpStream::connect((Ipv6Addr::LOCALHOST, port)).await,
    };
    let mut inside = match inside {
        Ok(inside) => inside,
        Err(error) => return outgoing.fail(FailureKind::PortClosed, error.to_string()).await,
    };
    let _ = inside.set_nodelay(true);
    if outgoing.say(&FromAgent::Done).await.is_err() {
        return;
    }
    if let Some(mut server) = incoming.into_stream(outgoing) {
        let _ = copy_bidirectional(&mut server, &mut inside).await;
    }
}

/// Does not end once it listens.
pub(crate) async fn answer(port: u16, said: &str, incoming: Incoming, mut outgoing: Outgoing) {
    let listener = match TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await {
        Ok(listener) => listener,
        Err(error) => {
            let kind = match error.kind() {
                io::ErrorKind::AddrInUse => FailureKind::Exists,
                _ => FailureKind::Other,
            };
            return outgoing.fail(kind, error.to_string()).await;
        }
    };
    if outgoing.say(&FromAgent::Done).await.is_err() {
        return;
    }
    // The server has its answer; what follows is between programs inside.
    drop((incoming, outgoing));
    loop {
        match listener.accept().await {
            Ok((mut client, _)) => {
                let _ = timeout(LONGEST_TELLING, client.write_all(said.as_bytes())).await;
            }
            Err(_) => sleep(REST).await,
        }
    }
}

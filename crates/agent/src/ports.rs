//! A connection to a program that listens on the sandbox's loopback.

use std::net::{Ipv4Addr, Ipv6Addr};

use sandgate_agent::protocol::{FailureKind, FromAgent};
use tokio::io::copy_bidirectional;
use tokio::net::TcpStream;

use crate::connection::{Incoming, Outgoing};

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

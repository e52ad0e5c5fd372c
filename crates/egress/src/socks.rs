//! SOCKS5, of which programs need one command: connect.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::Way;
use crate::denied::{NoConnection, Wanted, Why};
use crate::first::Replayed;
use crate::sandbox::{SandboxEgress, read_host};
use crate::tunnel;

const VERSION: u8 = 5;
const NO_PASSWORD: u8 = 0;
const NO_METHOD: u8 = 0xff;
const CONNECT: u8 = 1;
const PATIENCE: Duration = Duration::from_secs(10);

/// What has been read of a message so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Read<T> {
    More,
    Broken,
    /// And how many bytes it took.
    Whole(T, usize),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    pub command: u8,
    pub host: String,
    pub port: u16,
}

/// Whether the client can do without a password.
#[must_use]
pub fn read_greeting(bytes: &[u8]) -> Read<bool> {
    match bytes {
        [] | [VERSION] => Read::More,
        [VERSION, count, methods @ ..] => match methods.get(..usize::from(*count)) {
            Some(methods) => Read::Whole(methods.contains(&NO_PASSWORD), 2 + methods.len()),
            None => Read::More,
        },
        _ => Read::Broken,
    }
}

#[must_use]
pub fn read_request(bytes: &[u8]) -> Read<Request> {
    let (head, rest) = match bytes {
        [VERSION, command, 0, kind, rest @ ..] => ((*command, *kind), rest),
        [] | [VERSION] | [VERSION, _] | [VERSION, _, 0] => return Read::More,
        _ => return Read::Broken,
    };
    let (command, kind) = head;
    let (host, length) = match kind {
        1 => match rest.first_chunk::<4>() {
            Some(four) => (Ipv4Addr::from(*four).to_string(), 4),
            None => return Read::More,
        },
        4 => match rest.first_chunk::<16>() {
            Some(six) => (Ipv6Addr::from(*six).to_string(), 16),
            None => return Read::More,
        },
        3 => match rest {
            [] => return Read::More,
            [length, name @ ..] => match name.get(..usize::from(*length)).map(std::str::from_utf8) {
                Some(Ok(name)) => (name.to_owned(), 1 + name.len()),
                Some(Err(_)) => return Read::Broken,
                None => return Read::More,
            },
        },
        _ => return Read::Broken,
    };
    match rest.get(length..length + 2) {
        Some(port) => {
            let port = u16::from_be_bytes([port[0], port[1]]);
            Read::Whole(Request { command, host, port }, 4 + length + 2)
        }
        None => Read::More,
    }
}

pub(crate) async fn serve(sandbox: Arc<SandboxEgress>, listener: TcpListener) {
    let accepting = Arc::clone(&sandbox);
    accepting
        .accept(listener, move |stream| {
            let sandbox = Arc::clone(&sandbox);
            async move {
                // Who breaks off has been told, or does not want to know.
                let _ = connection(&sandbox, stream).await;
            }
        })
        .await;
}

async fn connection(sandbox: &Arc<SandboxEgress>, mut stream: TcpStream) -> io::Result<()> {
    let mut head = Vec::new();
    let asking = async {
        if !read_message(&mut stream, &mut head, read_greeting).await? {
            stream.write_all(&[VERSION, NO_METHOD]).await?;
            return Err(io::ErrorKind::InvalidData.into());
        }
        stream.write_all(&[VERSION, NO_PASSWORD]).await?;
        read_message(&mut stream, &mut head, read_request).await
    };
    let request = tokio::time::timeout(PATIENCE, asking).await??;
    if request.command != CONNECT {
        return answer(&mut stream, 7).await;
    }
    match open(sandbox, &request).await {
        Ok((wanted, upstream, ticket)) => {
            answer(&mut stream, 0).await?;
            tunnel::run(sandbox, Replayed::new(head, stream), wanted, upstream, ticket).await;
            Ok(())
        }
        Err(why) => answer(&mut stream, code(&why)).await,
    }
}

async fn open(
    sandbox: &Arc<SandboxEgress>,
    request: &Request,
) -> Result<(Wanted, TcpStream, crate::meter::Ticket), NoConnection> {
    let wanted = match read_host(&request.host, request.port) {
        Ok(wanted) => sandbox.by_name(wanted),
        Err(why) => return Err(sandbox.refused(Way::Socks, why).await),
    };
    let ticket = sandbox.ticket(Way::Socks, &wanted).await?;
    let (upstream, ticket) = sandbox.connect(&wanted, ticket).await?;
    Ok((wanted, upstream, ticket))
}

fn code(why: &NoConnection) -> u8 {
    match why {
        NoConnection::Denied(denied) => match denied.why {
            Why::TooMany { .. } | Why::TooFast { .. } | Why::Crowded { .. } | Why::Spent { .. } => 1,
            _ => 2,
        },
        NoConnection::Failed { why, .. } if why.contains("refused") => 5,
        NoConnection::Failed { .. } => 4,
    }
}

async fn answer(stream: &mut TcpStream, code: u8) -> io::Result<()> {
    stream.write_all(&[VERSION, code, 0, 1, 0, 0, 0, 0, 0, 0]).await
}

/// Reads until a message is whole; what came after it stays in `head`.
async fn read_message<T>(
    stream: &mut TcpStream,
    head: &mut Vec<u8>,
    read: impl Fn(&[u8]) -> Read<T>,
) -> io::Result<T> {
    loop {
        match read(head) {
            Read::Whole(message, length) => {
                head.drain(..length);
                return Ok(message);
            }
            Read::Broken => return Err(io::ErrorKind::InvalidData.into()),
            Read::More if stream.read_buf(head).await? == 0 => {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            Read::More => {}
        }
    }
}

#[cfg(test)]
#[path = "socks_tests.rs"]
mod tests;

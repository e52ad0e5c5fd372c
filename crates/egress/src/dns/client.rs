//! Asks name servers of the operator's choice.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UdpSocket};

use super::message::{NO_ERROR, NO_SUCH_NAME, TYPE_A, TYPE_AAAA, ask, parse_answer};

/// One question to one server.
const PATIENCE: Duration = Duration::from_secs(3);
const LONGEST_DATAGRAM: usize = 4096;

/// All addresses of a name, from the first server that answers. An empty list: there is no such name. Servers that know
/// nothing of IPv6, or fail at it, are common: what they have of one kind is used. Only that is checked and connected to.
pub(crate) async fn lookup(servers: &[SocketAddr], name: &str) -> Result<Vec<IpAddr>, String> {
    let mut last = "no name server is configured".to_owned();
    for server in servers {
        let (four, six) = tokio::join!(ask_one(*server, name, TYPE_A), ask_one(*server, name, TYPE_AAAA));
        match (four, six) {
            (Ok(mut four), Ok(six)) => {
                four.extend(six);
                return Ok(four);
            }
            (Ok(found), Err(_)) | (Err(_), Ok(found)) if !found.is_empty() => return Ok(found),
            (Err(error), _) | (_, Err(error)) => last = error,
        }
    }
    Err(last)
}

async fn ask_one(server: SocketAddr, name: &str, kind: u16) -> Result<Vec<IpAddr>, String> {
    match tokio::time::timeout(PATIENCE, exchange(server, name, kind)).await {
        Ok(Ok((NO_ERROR | NO_SUCH_NAME, addresses))) => Ok(addresses),
        Ok(Ok((code, _))) => Err(format!("the name server answered with error {code}")),
        Ok(Err(error)) => Err(format!("the name server cannot be asked: {error}")),
        Err(_) => Err("the name server did not answer".to_owned()),
    }
}

async fn exchange(server: SocketAddr, name: &str, kind: u16) -> std::io::Result<(u8, Vec<IpAddr>)> {
    let mut id = [0; 2];
    getrandom::fill(&mut id).map_err(|error| std::io::Error::other(error.to_string()))?;
    let question = ask(u16::from_be_bytes(id), name, kind);
    // A fresh socket has a random port, and a connected one hears nobody else.
    let any: IpAddr = if server.is_ipv4() { [0; 4].into() } else { [0_u16; 8].into() };
    let socket = UdpSocket::bind((any, 0)).await?;
    socket.connect(server).await?;
    socket.send(&question).await?;
    let mut buffer = vec![0; LONGEST_DATAGRAM];
    loop {
        let length = socket.recv(&mut buffer).await?;
        let Some((cut, code, addresses)) = parse_answer(&buffer[..length], &question) else { continue };
        return if cut { exchange_whole(server, &question).await } else { Ok((code, addresses)) };
    }
}

/// The same by TCP, for an answer that was too long.
async fn exchange_whole(server: SocketAddr, question: &[u8]) -> std::io::Result<(u8, Vec<IpAddr>)> {
    let mut stream = TcpStream::connect(server).await?;
    let length = u16::try_from(question.len()).map_err(std::io::Error::other)?;
    stream.write_u16(length).await?;
    stream.write_all(question).await?;
    let length = stream.read_u16().await?;
    let mut answer = vec![0; usize::from(length)];
    stream.read_exact(&mut answer).await?;
    match parse_answer(&answer, question) {
        Some((_, code, addresses)) => Ok((code, addresses)),
        None => Err(std::io::Error::other("the answer is to another question")),
    }
}

#[cfg(test)]
#[path = "client_tests.rs"]
mod tests;

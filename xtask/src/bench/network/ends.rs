//! What the clients of this benchmark find outside: a server of bytes, and a name that leads to it.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};

use anyhow::{Result, bail};
use rustix::net::sockopt::set_tcp_congestion;

/// Not the first of the loopback, which nobody opens by mistake.
pub(super) const OUTSIDE: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 9);
pub(super) const NAME: &str = "outside.test";
const PIECE: usize = 256 << 10;
/// What a client asks with its first byte. No letters: they could be the beginning of a request, which the proxy would
/// wait for. One that is a request is answered as such.
const ONE_BYTE: u8 = b'0';
const MANY: u8 = b'1';
const TAKE_MANY: u8 = b'2';
const REQUEST: u8 = b'G';

pub(super) fn serve(bytes: usize, congestion: &str) -> Result<SocketAddr> {
    let listener = TcpListener::bind((OUTSIDE, 0))?;
    // Those that are accepted have it from here.
    set_tcp_congestion(&listener, congestion)?;
    let address = listener.local_addr()?;
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || answer(stream, bytes));
        }
    });
    Ok(address)
}

/// Who breaks off is missed by the client, which counts.
fn answer(mut stream: TcpStream, bytes: usize) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut asked = [0];
    stream.read_exact(&mut asked)?;
    match asked[0] {
        ONE_BYTE => Ok(stream.write_all(&[ONE_BYTE])?),
        MANY => give(&mut stream, bytes),
        TAKE_MANY if take(&mut stream)? == bytes => Ok(stream.write_all(&[ONE_BYTE])?),
        REQUEST => {
            skip_head(&mut stream)?;
            stream.write_all(format!("HTTP/1.1 200 OK\r\ncontent-length: {bytes}\r\n\r\n").as_bytes())?;
            give(&mut stream, bytes)
        }
        _ => bail!("nothing that is known was asked, or less came than was announced"),
    }
}

fn skip_head(stream: &mut TcpStream) -> Result<()> {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    Ok(())
}

fn give(stream: &mut TcpStream, bytes: usize) -> Result<()> {
    let piece = vec![b'x'; PIECE];
    for _ in 0..bytes / PIECE {
        stream.write_all(&piece)?;
    }
    Ok(stream.shutdown(Shutdown::Write)?)
}

/// How many came until the end.
fn take(stream: &mut TcpStream) -> Result<usize> {
    let mut piece = vec![0; PIECE];
    let mut total = 0;
    loop {
        match stream.read(&mut piece)? {
            0 => return Ok(total),
            read => total += read,
        }
    }
}

/// A name server for which every name leads to [`OUTSIDE`].
pub(super) fn serve_names() -> Result<SocketAddr> {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = socket.local_addr()?;
    std::thread::spawn(move || {
        let mut question = [0; 512];
        while let Ok((length, asker)) = socket.recv_from(&mut question) {
            if let Some(answer) = name_answer(&question[..length]) {
                // A question that stays without an answer is asked again.
                let _ = socket.send_to(&answer, asker);
            }
        }
    });
    Ok(address)
}

/// The question with one address for it, or with none where it is not for an IPv4 address.
fn name_answer(question: &[u8]) -> Option<Vec<u8>> {
    const HEAD: usize = 12;
    // The name ends with an empty label; behind it are the type and the class.
    let end = HEAD + question.get(HEAD..)?.iter().position(|byte| *byte == 0)? + 5;
    let is_v4 = question.get(end - 4..end - 2)? == [0, 1];
    let mut answer = question.get(..2)?.to_vec();
    answer.extend([0x81, 0x80, 0, 1, 0, u8::from(is_v4), 0, 0, 0, 0]);
    answer.extend(question.get(HEAD..end)?);
    if is_v4 {
        answer.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4]);
        answer.extend(OUTSIDE.octets());
    }
    Some(answer)
}

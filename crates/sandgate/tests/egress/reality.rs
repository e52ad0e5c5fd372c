//! That there is something to be found outside: an attempt that looks where nothing is would be stopped by that alone.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr as UnixAddress, UnixStream};
use std::time::Duration;

use crate::world::WORLD;

/// From the host, what attempts look for in ways that no policy opens, so that the control run shows nothing of them.
pub(crate) fn assert_the_world_answers() {
    for place in [WORLD.own, SocketAddr::new(WORLD.good.into(), 443)] {
        assert!(holds_the_secret(&answer(place, b"x")), "a packet to {place} is answered with the secret");
    }
    for kind in [5, 10, 15, 16, 33, 65, 255] {
        assert!(holds_the_secret(&answer(WORLD.names, &question("data.wild.test", kind))), "kind {kind}");
    }
    assert!(
        holds_the_secret(&page(SocketAddr::new(WORLD.denied.into(), 80))),
        "the denied address has a page"
    );
    let address = UnixAddress::from_abstract_name(&WORLD.abstract_socket).unwrap();
    UnixStream::connect_addr(&address).expect("the nameless socket can be connected to");
}

fn holds_the_secret(answer: &[u8]) -> bool {
    answer.windows(WORLD.secret.len()).any(|part| part == WORLD.secret.as_bytes())
}

fn answer(place: SocketAddr, packet: &[u8]) -> Vec<u8> {
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    socket.connect(place).unwrap();
    socket.send(packet).unwrap();
    let mut answer = vec![0; 4096];
    let length = socket.recv(&mut answer).unwrap();
    answer.truncate(length);
    answer
}

fn page(place: SocketAddr) -> Vec<u8> {
    let mut stream = TcpStream::connect(place).unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    answer
}

fn question(name: &str, kind: u8) -> Vec<u8> {
    let mut question = vec![0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    for label in name.split('.') {
        question.push(u8::try_from(label.len()).unwrap());
        question.extend(label.as_bytes());
    }
    question.extend([0, 0, kind, 0, 1]);
    question
}

//! What the kernel was told, and what it was not.

use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use rustix::net::sockopt;

use super::{LITTLE, keep_short, keep_short_if_near};

fn sizes(stream: &TcpStream) -> [usize; 2] {
    [sockopt::socket_send_buffer_size(stream).unwrap(), sockopt::socket_recv_buffer_size(stream).unwrap()]
}

fn connected() -> (TcpListener, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (listener, stream)
}

#[test]
fn a_connection_of_this_machine_holds_little() {
    let (_listener, stream) = connected();
    keep_short(&stream);
    assert_eq!(sizes(&stream), [2 * LITTLE; 2]);
}

#[test]
fn only_who_answers_at_once_is_near() {
    let (_listener, stream) = connected();
    let before = sizes(&stream);
    keep_short_if_near(&stream, Duration::from_millis(5));
    assert_eq!(sizes(&stream), before, "a far one is left to the kernel, which lets it grow");
    keep_short_if_near(&stream, Duration::from_micros(80));
    assert_eq!(sizes(&stream), [2 * LITTLE; 2]);
}

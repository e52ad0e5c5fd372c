//! The kernel was told.

use rustix::net::sockopt;

use super::{QUIET, keep_alive};

#[test]
fn a_quiet_connection_is_asked_whether_it_lives() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let stream = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    assert!(!sockopt::socket_keepalive(&stream).unwrap());
    keep_alive(&stream);
    assert!(sockopt::socket_keepalive(&stream).unwrap());
    assert_eq!(sockopt::tcp_keepidle(&stream).unwrap(), QUIET);
}

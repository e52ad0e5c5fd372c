//! What the kernel was told, and what it was not.

use std::net::{TcpListener, TcpStream};

use rustix::net::sockopt;

use super::{LITTLE, WITHOUT_PACING, stays_on_this_machine};

/// As much as was asked for, or as much as the machine gives to one; the kernel doubles it.
fn little() -> usize {
    let most = std::fs::read_to_string("/proc/sys/net/core/rmem_max").unwrap();
    2 * LITTLE.min(most.trim().parse().unwrap())
}

#[test]
fn what_a_listener_was_told_holds_for_all_that_it_accepts() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    stays_on_this_machine(&listener);
    let _client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (accepted, _) = listener.accept().unwrap();
    assert_eq!(sockopt::tcp_congestion(&accepted).unwrap(), WITHOUT_PACING);
    assert_eq!(sockopt::socket_recv_buffer_size(&accepted).unwrap(), little());
}

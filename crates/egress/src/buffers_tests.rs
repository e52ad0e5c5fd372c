//! A few connections of a sandbox have large buffers, and no sandbox has all of them.

use std::net::{TcpListener, TcpStream};

use rustix::net::{AddressFamily, SocketType, socket, sockopt};

use super::{INSIDE, NARROW, USUAL, WIDE, WIDEST, WidePlaces, Width, bound_inside, last_number, places_in};

fn widths(own: &WidePlaces, all: &WidePlaces, count: usize) -> Vec<Width> {
    (0..count).map(|_| Width::of(own, all)).collect()
}

fn wide(widths: &[Width]) -> usize {
    widths.iter().filter(|width| matches!(width, Width::Wide { .. })).count()
}

#[test]
fn so_many_of_a_sandbox_are_wide_and_the_next_when_one_of_them_ends() {
    let (own, all) = (WidePlaces::default(), WidePlaces::of_all());
    let mut held = widths(&own, &all, 128);
    assert_eq!(wide(&held), WIDE);
    held.remove(0);
    assert_eq!(wide(&widths(&own, &all, 2)), 1);
}

#[test]
fn all_sandboxes_together_take_a_part_of_what_the_host_has() {
    assert_eq!(places_in(Some(2 << 30)) * WIDEST, 512 << 20);
    assert_eq!(places_in(None) * WIDEST, USUAL / 4);
    assert_eq!(places_in(Some(0)), WIDE);
    let all = WidePlaces::default();
    let held: Vec<_> = (0..4).map(|_| widths(&WidePlaces::default(), &all, 8)).collect();
    assert_eq!(held.iter().map(|held| wide(held)).sum::<usize>(), WIDE);
}

/// As much as was asked for, or as much as the machine gives to one.
fn given(bytes: usize, most: &str) -> usize {
    bytes.min(2 * last_number(&format!("/proc/sys/net/core/{most}")).unwrap())
}

#[test]
fn buffers_have_a_bound() {
    let one = || socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    let narrow = one();
    Width::Narrow.tell(&narrow);
    // One that was told a size does not grow.
    assert_eq!(sockopt::socket_recv_buffer_size(&narrow).unwrap(), given(NARROW, "rmem_max"));
    assert_eq!(sockopt::socket_send_buffer_size(&narrow).unwrap(), given(NARROW, "wmem_max"));
    let wide = one();
    Width::of(&WidePlaces::default(), &WidePlaces::default()).tell(&wide);
    assert!(sockopt::socket_recv_buffer_size(&wide).unwrap() <= WIDEST);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    bound_inside(&listener);
    let _client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (accepted, _) = listener.accept().unwrap();
    assert_eq!(sockopt::socket_send_buffer_size(&accepted).unwrap(), given(INSIDE, "wmem_max"));
}

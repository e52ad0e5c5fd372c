//! The names that programs look up, and what they are told of those that they may not have.

use std::sync::LazyLock;

use crate::world::{POLICY, Server, printed};

static SERVER: LazyLock<Server> = LazyLock::new(|| Server::under_policy("names").ending_with_the_tests());

/// Asks the sandbox's name server itself, with what resolvers send who can be told more than a code (EDNS).
const ASK: &str = "import socket, struct\n\
    def question(name):\n\
    \x20   labels = b''.join(bytes([len(part)]) + part.encode() for part in name.split('.')) + b'\\0'\n\
    \x20   head = struct.pack('>HHHHHH', 7, 0x100, 1, 0, 0, 1)\n\
    \x20   return head + labels + struct.pack('>HH', 1, 1) + b'\\0' + struct.pack('>HHIH', 41, 1232, 0, 0)\n\
    def by_udp(name):\n\
    \x20   end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); end.settimeout(60)\n\
    \x20   end.sendto(question(name), ('127.0.0.1', 53)); return end.recv(4096)\n\
    def by_tcp(*names):\n\
    \x20   with socket.create_connection(('127.0.0.1', 53), 60) as end, end.makefile('rwb') as file:\n\
    \x20       for name in names:\n\
    \x20           file.write(struct.pack('>H', len(question(name))) + question(name)); file.flush()\n\
    \x20           yield file.read(struct.unpack('>H', file.read(2))[0])\n";

#[test]
fn names_are_answered_by_tcp_too_and_by_one_connection_several() {
    let code = format!(
        "{ASK}\
         for answer in by_tcp('allowed.test', 'forbidden.test', 'a.wild.test'):\n\
         \x20   print(answer[3] & 15, b'\\xc6\\x12' in answer)"
    );
    assert_eq!(printed(&SERVER.run(&code, &POLICY)), "0 True\n3 False\n0 True");
}

#[test]
fn who_can_hear_it_is_told_why_a_name_is_not_found() {
    let code = format!(
        "{ASK}\
         for answer in [by_udp('forbidden.test'), *by_tcp('forbidden.test')]:\n\
         \x20   assert answer[3] & 15 == 3\n\
         \x20   print(b'no rule allows forbidden.test' in answer, b'To allow it' in answer)"
    );
    assert_eq!(printed(&SERVER.run(&code, &POLICY)), "True True\nTrue True");
}

/// Name servers cut what is too long for a packet, and give the whole by TCP.
#[test]
fn a_name_is_reached_whose_answer_was_too_long_for_a_packet() {
    let code = "import urllib.request; print(urllib.request.urlopen('http://long.wild.test/', timeout=60).read().decode())";
    assert_eq!(printed(&SERVER.run(code, &POLICY)), "GOOD");
}

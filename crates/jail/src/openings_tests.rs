//! What is asked of the spawner reads back as it was written.

use std::net::Ipv4Addr;

use super::{Opening, everywhere, loopback};

#[test]
fn openings_survive_the_wire() {
    let all = [
        Opening::Tcp(everywhere(443)),
        Opening::Udp(loopback(53)),
        Opening::Tcp("[::1]:80".parse().unwrap()),
        Opening::LocalRoute { network: Ipv4Addr::new(198, 18, 0, 0), prefix: 15 },
    ];
    for opening in all {
        assert_eq!(opening.to_string().parse::<Opening>().unwrap(), opening);
    }
    for wrong in ["", "tcp", "tcp 1.2.3.4", "udp x:1", "route 1.2.3.4 33", "route 1.2.3.4", "raw 1.2.3.4:1"] {
        assert!(wrong.parse::<Opening>().is_err(), "{wrong}");
    }
}

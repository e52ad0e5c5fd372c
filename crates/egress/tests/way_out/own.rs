//! An address that only the host itself has, and that no list knows: nobody gets as far as connecting to it. In a network
//! of its own, so that the host of the tests keeps its addresses. Needs root, like all that makes one.

use std::io::ErrorKind;
use std::net::TcpListener;
use std::process::Command;

use sandgate_core::network::{NetworkLimits, NetworkPolicy};
use sandgate_egress::{Egress, EgressConfig};

use crate::support::World;

/// Of the internet, if it were anybody's here.
const OWN: &str = "8.8.9.9";
const IN_ITS_NETWORK: &str = "SANDGATE_TEST_IN_ITS_NETWORK";

#[test]
fn an_address_of_the_hosts_own_is_not_even_connected_to() {
    let prepare = format!("ip link set lo up && ip addr add {OWN}/32 dev lo && exec \"$0\" \"$@\"");
    let test = "own::what_is_tried_in_a_network_with_such_an_address";
    let done = Command::new("unshare")
        .args(["--net", "sh", "-c", &prepare])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(IN_ITS_NETWORK, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(
        done.status.success() && said.contains("1 passed"),
        "{said}{}",
        String::from_utf8_lossy(&done.stderr)
    );
}

/// Does nothing but where the test above starts it.
#[tokio::test]
async fn what_is_tried_in_a_network_with_such_an_address() {
    if std::env::var_os(IN_ITS_NETWORK).is_none() {
        return;
    }
    let mut world = World::start().await;
    let listener = TcpListener::bind((OWN, 0)).unwrap();
    listener.set_nonblocking(true).unwrap();
    let target = listener.local_addr().unwrap().to_string();
    world.dns.answer("own.allowed.test", &[OWN]);
    let inside = world.sandbox_with(&NetworkPolicy::open(), NetworkLimits::default());
    let by_name = format!("own.allowed.test:{}", listener.local_addr().unwrap().port());
    for to in [&target, &by_name] {
        let answer = inside.connect(to).await.1;
        assert!(answer.contains(" 403 ") && answer.contains("the server's own"), "{to}: {answer}");
    }
    let reached = listener.accept().map(drop).map_err(|error| error.kind());
    assert_eq!(reached, Err(ErrorKind::WouldBlock), "nobody has connected");
    // An operator who wants it opens it.
    let opened =
        EgressConfig { allow_private: vec![format!("{OWN}/32").parse().unwrap()], ..EgressConfig::default() };
    world.egress = Egress::new(opened).unwrap();
    let inside = world.sandbox_with(&NetworkPolicy::open(), NetworkLimits::default());
    assert!(inside.connect(&target).await.1.contains(" 200 "));
    listener.accept().unwrap();
}

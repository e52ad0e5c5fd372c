//! The setup reads back as it was sent.

use sandgate_jail::Layers;
use sandgate_jail::message::Message;
use sandgate_jail::root::RuntimeMounts;

use super::Setup;

#[test]
fn setup_survives_the_wire() {
    let setup = Setup {
        by_root: true,
        layers: Layers { landlock: false, ..Layers::ALL },
        scratch: "/s".into(),
        volumes: "/v with space".into(),
        mounts: RuntimeMounts {
            shown: vec![("/a".into(), "/b".into()), ("/c".into(), "/d".into())],
            covered: vec!["/e".into(), "/f".into()],
        },
    };
    let message = Message { words: setup.words(), fds: Vec::new() };
    assert_eq!(Setup::parse(&message).unwrap(), setup);
}

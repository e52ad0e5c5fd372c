//! The configuration is strict and names what is wrong.

use super::*;

fn read(yaml: &str) -> Result<ConfigFile, String> {
    parse(Path::new("gate.yaml"), yaml).map_err(|error| error.to_string())
}

#[test]
fn every_key_is_optional() {
    let defaults = ContainersConfig::default();
    for yaml in ["", "# nothing\n", "listen: 127.0.0.1:4000\n"] {
        let file = read(yaml).unwrap();
        assert_eq!((file.listen.as_str(), file.max_live), (LISTEN, defaults.max_live), "{yaml:?}");
    }
    let file = read("idle_seconds: 5\nlimits:\n  wall: 2.5\n").unwrap();
    assert_eq!(file.idle_seconds, 5);
    assert_eq!(file.limits.wall, Duration::from_millis(2500));
    assert_eq!(file.limits.processes, Limits::default().processes);
}

#[test]
fn mistakes_are_named_with_their_place() {
    let message = read("listen: 127.0.0.1:4000\nidel_seconds: 5\n").unwrap_err();
    assert!(message.starts_with("gate.yaml:2:1: ") && message.contains("idel_seconds"), "{message}");
    let message = read("pool: many\n").unwrap_err();
    assert!(message.starts_with("gate.yaml:1:7: "), "{message}");
    let message = read("limits:\n  memory: 1\n").unwrap_err();
    assert!(message.starts_with("gate.yaml:2:3: "), "{message}");
    let message = read("limits: [\n").unwrap_err();
    assert!(message.starts_with("gate.yaml:"), "{message}");
}

#[test]
fn only_this_machine_may_be_listened_on() {
    for text in ["127.0.0.1:0", "localhost:4000", "[::1]:4000", "127.8.8.8:1"] {
        assert!(local_address(text).is_ok(), "{text}");
    }
    for text in ["0.0.0.0:4000", "[::]:4000", "192.168.0.1:80"] {
        assert!(matches!(local_address(text), Err(ConfigError::NotLocal(_))), "{text}");
    }
    for text in ["4000", "example.org:80", "localhost", "127.0.0.1:99999"] {
        assert!(matches!(local_address(text), Err(ConfigError::NoAddress(_))), "{text}");
    }
}

#[test]
fn options_win_over_the_file_and_zeros_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gate.yaml");
    let load = |yaml: &str, listen: Option<&str>| {
        std::fs::write(&path, yaml).unwrap();
        settings(&ServeArgs { listen: listen.map(str::to_owned), config: Some(path.clone()) })
    };
    assert_eq!(load("listen: 127.0.0.1:1", Some("127.0.0.1:2")).unwrap().listen.port(), 2);
    assert_eq!(load("listen: 127.0.0.1:1", None).unwrap().listen.port(), 1);
    assert!(matches!(load("max_live: 0", None), Err(ConfigError::Zero("max_live"))));
    assert!(load("listen: 0.0.0.0:1", None).is_err());
}

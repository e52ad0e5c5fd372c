//! Settings are checked with the place of what is wrong, and options win over the file.

use super::super::settings;
use super::*;

fn load(yaml: &str, listen: Option<&str>) -> Result<Settings, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gate.yaml");
    std::fs::write(&path, yaml).unwrap();
    let before = format!("{}/", folder.path().display());
    settings(Some(&path), listen).map_err(|error| error.to_string().replace(&before, ""))
}

#[test]
fn what_is_not_said_has_a_default() {
    let settings = load("idle_seconds: 5\nlimits:\n  wall: 2.5\n", None).unwrap();
    assert_eq!(settings.containers.idle.as_secs(), 5);
    assert_eq!(settings.gate.execution, Duration::from_millis(2500));
    assert_eq!(settings.limits.processes, Limits::default().processes);
}

#[test]
fn only_this_machine_may_be_listened_on_without_a_key() {
    for text in ["127.0.0.1:0", "localhost:4000", "[::1]:4000", "127.8.8.8:1"] {
        assert!(address(text, false).is_ok(), "{text}");
    }
    for text in ["0.0.0.0:4000", "[::]:4000", "192.168.0.1:80"] {
        assert!(address(text, false).unwrap_err().starts_with("refusing to listen"), "{text}");
    }
    assert!(address("0.0.0.0:4000", true).is_ok());
    for text in ["4000", "example.org:80", "localhost", "127.0.0.1:99999"] {
        assert!(address(text, false).unwrap_err().starts_with("cannot listen"), "{text}");
    }
}

#[test]
fn options_win_over_the_file() {
    assert_eq!(load("listen: 127.0.0.1:1", Some("127.0.0.1:2")).unwrap().listen.port(), 2);
    assert_eq!(load("listen: 127.0.0.1:1", None).unwrap().listen.port(), 1);
    assert!(load("", Some("nowhere")).unwrap_err().starts_with("cannot listen"));
}

#[test]
fn what_is_wrong_has_a_place_and_a_key() {
    for (yaml, said) in [
        ("pool: 1\nmax_live: 0\n", "gate.yaml:2:11: max_live: must be at least 1"),
        ("gate:\n  rounds: 0\n", "gate.yaml:2:11: gate.rounds: must be at least 1"),
        ("limits:\n  wall: 0\n", "gate.yaml:2:9: limits.wall: must be more than 0 seconds"),
        ("limits: {memory_bytes: 1}\n", "gate.yaml:1:24: limits.memory_bytes: must be at least 67108864"),
        ("limits: {contexts: 0}\n", "gate.yaml:1:20: limits.contexts: must be at least 1"),
        (
            "network:\n  registries: {pip: nope}\n",
            "gate.yaml:2:21: network.registries.pip: the address of a package registry cannot be read; it must be an http or https URL",
        ),
        (
            "network: {registries: {cache_bytes: 0}}\n",
            "gate.yaml:1:37: network.registries.cache_bytes: must be",
        ),
        ("listen: 0.0.0.0:1\n", "gate.yaml:1:9: listen: refusing to listen on 0.0.0.0:1"),
        ("log: 'a=b=c'\n", "gate.yaml:1:6: log: "),
        ("log: verbose\n", "gate.yaml:1:6: log: "),
        ("master_key: env:SANDGATE_NO_SUCH\n", "gate.yaml:1:13: master_key: the variable SANDGATE_NO_SUCH"),
        (
            "upstream:\n  url: http://x\n  key: env:SANDGATE_NO_SUCH\n",
            "gate.yaml:3:8: upstream.key: the variable",
        ),
        (
            "upstreams: {a: {url: 'http://x'}}\nmodels:\n- name: m\n  upstream: b\n",
            "gate.yaml:4:13: models[0].upstream: there is no upstream 'b'; there is: a",
        ),
        ("- a\n", "gate.yaml:1:1: "),
    ] {
        let problem = load(yaml, None).unwrap_err();
        assert!(problem.starts_with(said), "{problem}");
    }
}

#[test]
fn secrets_are_in_nothing_that_is_printed() {
    let yaml = "master_key: sk-master\nupstream: {url: 'http://x?k=sk-query', key: sk-up, headers: {x-a: sk-head}}\n";
    let settings = load(yaml, None).unwrap();
    let shown = format!("{settings:?} {:?}", settings.described());
    for secret in ["sk-master", "sk-up", "sk-head", "sk-query"] {
        assert!(!shown.contains(secret), "{secret} in {shown}");
    }
}

#[test]
fn what_cannot_change_is_named() {
    let old = load("pool: 1\ngate: {rounds: 1}\n", None).unwrap();
    let new = load("pool: 2\nlisten: 127.0.0.1:9\ngate: {rounds: 2}\n", None).unwrap();
    assert_eq!(old.fixed_changes(&new), ["listen", "pool"]);
}

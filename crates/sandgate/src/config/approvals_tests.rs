//! What is written on approvals is understood, and what is wrong with it has a place.

use super::super::settings;

fn load(yaml: &str) -> Result<Option<String>, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gate.yaml");
    std::fs::write(&path, yaml).unwrap();
    let before = format!("{}/", folder.path().display());
    let settings = settings(Some(&path), None).map_err(|error| error.to_string().replace(&before, ""))?;
    let shown = format!("{settings:?}");
    assert!(!shown.contains("hidden"), "{shown}");
    Ok(settings.approvals.said)
}

#[test]
fn what_is_written_is_said_again() {
    assert_eq!(load("pool: 1\n"), Ok(None));
    assert_eq!(load("approvals: {}\n"), Ok(None));
    assert_eq!(
        load("approvals: {default: deny, rules: [{name: a, when: 'true', then: allow}]}\n").unwrap().unwrap(),
        "approvals: 1 rule, otherwise denied, a person has 300 s"
    );
    let hook =
        "approvals:\n  person_timeout_seconds: 5\n  webhook: {url: 'http://x/y?k=hidden', secret: hidden}\n";
    assert_eq!(
        load(hook).unwrap().unwrap(),
        "approvals: no rules, a webhook at http://x/y of all that is left, a person has 5 s"
    );
    let asks = "master_key: hidden\napprovals: {default: ask}\n";
    assert_eq!(load(asks).unwrap().unwrap(), "approvals: no rules, otherwise asked, a person has 300 s");
}

#[test]
fn what_is_wrong_has_a_place_and_a_key() {
    let rule = |fields: &str| format!("approvals:\n  rules:\n  - name: a\n    when: 'true'\n{fields}");
    for (yaml, said) in [
        (
            "approvals:\n  rules:\n  - name: a\n    when: cod == ''\n    then: deny\n".to_owned(),
            "gate.yaml:4:11: approvals.rules[0].when: there is no name 'cod'; possible here: code,",
        ),
        (
            "approvals:\n  rules:\n  - {name: a, when: 'code ==', then: deny}\n".to_owned(),
            "gate.yaml:3:21: approvals.rules[0].when: it is no expression: ",
        ),
        (
            "approvals:\n  rules:\n  - {name: a, when: 'size(code)', then: deny}\n".to_owned(),
            "gate.yaml:3:21: approvals.rules[0].when: it must come out as true or false, not as int",
        ),
        (
            rule("    then: forbid\n"),
            "gate.yaml:5:11: approvals.rules[0].then: 'forbid' is not possible here",
        ),
        (rule(""), "gate.yaml:4:5: approvals.rules[0].then: this key is missing"),
        (rule("    then: ask\n"), "gate.yaml:5:11: approvals.rules[0].then: nobody could answer"),
        (rule("    then: deny\n    reason: ''\n"), "gate.yaml:6:13: approvals.rules[0].reason: a sentence"),
        (
            rule("    then: deny\n  - {name: a, when: 'true', then: deny}\n"),
            "gate.yaml:6:12: approvals.rules[1].name: another rule has this name",
        ),
        ("approvals:\n  default: ask\n".to_owned(), "gate.yaml:2:12: approvals.default: nobody could answer"),
        ("approvals:\n  defalt: deny\n".to_owned(), "gate.yaml:2:3: approvals.defalt: there is no such key"),
        ("approvals:\n  max_held: 0\n".to_owned(), "gate.yaml:2:13: approvals.max_held: must be at least 1"),
        (
            "approvals:\n  webhook: {url: 'http://x'}\n".to_owned(),
            "gate.yaml:2:13: approvals.webhook.secret: this key is missing",
        ),
        (
            "approvals:\n  webhook: {url: nowhere, secret: hidden}\n".to_owned(),
            "gate.yaml:2:18: approvals.webhook.url: an address is wanted",
        ),
        (
            "approvals:\n  webhook: {url: 'http://x', secret: whsec_hidden!}\n".to_owned(),
            "gate.yaml:2:38: approvals.webhook.secret: what follows 'whsec_'",
        ),
        (
            "approvals:\n  webhook: {url: 'http://x', secret: env:SANDGATE_NO_SUCH}\n".to_owned(),
            "gate.yaml:2:38: approvals.webhook.secret: the variable SANDGATE_NO_SUCH is not set",
        ),
        (
            "approvals:\n  webhook: {url: 'http://x', secret: s, timeout_seconds: 0}\n".to_owned(),
            "gate.yaml:2:58: approvals.webhook.timeout_seconds: must be at least 1",
        ),
    ] {
        let problem = load(&yaml).unwrap_err();
        assert!(problem.starts_with(said), "{problem}\nnot {said}");
        assert!(!problem.contains("hidden"), "{problem}");
    }
}

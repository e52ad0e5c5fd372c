//! How the doctor's findings are shown.

use super::*;

fn checks() -> Vec<Check> {
    let check = |group, name: &'static str, state, remedy: Option<&str>| Check {
        name: name.into(),
        group,
        state,
        detail: "why".to_owned(),
        remedy: remedy.map(str::to_owned),
    };
    vec![
        check("isolation", "namespaces", State::On, None),
        check("isolation", "seccomp", State::Missing, Some("a newer kernel")),
        check("limits", "memory", State::Off, Some("run as root")),
    ]
}

#[test]
fn the_table_has_a_row_each_and_says_how_to_turn_it_on() {
    let table = as_table(&checks(), false);
    let expected = "\
isolation
  on       namespaces  why
  missing  seccomp     why
                       to turn it on: a newer kernel

limits
  off      memory      why
                       to turn it on: run as root

1 missing
";
    assert_eq!(table, expected);
}

#[test]
fn the_json_has_the_same() {
    let json: Value = serde_json::from_str(&as_json(&checks(), false)).unwrap();
    assert_eq!(json["ok"], false);
    assert_eq!(json["checks"][1]["state"], "missing");
    assert_eq!(json["checks"][1]["remedy"], "a newer kernel");
}

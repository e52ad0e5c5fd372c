//! Names find their upstreams; groups take turns.

use super::super::Loopback;
use super::*;

fn member(model: Option<&str>) -> Member {
    Member::new(Arc::new(Loopback), model.map(ToOwned::to_owned), None)
}

fn routes(models: &[(&str, Option<&str>)]) -> Routes {
    Routes::named(models.iter().map(|(name, model)| ((*name).to_owned(), member(*model))), None)
}

/// The name that goes up for this one.
fn sent(routes: &Routes, model: &str) -> Option<String> {
    let choices = routes.choices(model)?;
    Some(choices[0].model.clone().unwrap_or_else(|| model.to_owned()))
}

#[test]
fn a_name_wins_over_a_pattern_and_a_long_pattern_over_a_short_one() {
    let routes = routes(&[
        ("*", Some("rest-*")),
        ("acme/*", Some("*")),
        ("acme/big/*", None),
        ("gpt-5", Some("gpt-5-2026")),
    ]);
    for (asked, up) in [
        ("gpt-5", "gpt-5-2026"),
        ("acme/small", "small"),
        ("acme/big/one", "acme/big/one"),
        ("other", "rest-other"),
    ] {
        assert_eq!(sent(&routes, asked).unwrap(), up, "{asked}");
    }
    assert_eq!(routes.names().collect::<Vec<_>>(), ["gpt-5"]);
    assert!(routes.default().is_some());
}

#[test]
fn an_unknown_name_has_no_upstream() {
    let routes = routes(&[("gpt-5", None), ("acme/*", None)]);
    assert!(sent(&routes, "gpt-6").is_none());
    assert!(sent(&routes, "").is_none());
    assert!(routes.default().is_none());
}

#[test]
fn members_of_a_group_take_turns_and_rest_after_a_failure() {
    let routes = routes(&[("m", Some("a")), ("m", Some("b")), ("m", Some("c"))]);
    let first: Vec<String> = (0..6).filter_map(|_| sent(&routes, "m")).collect();
    assert_eq!(first, ["a", "b", "c", "a", "b", "c"]);
    let choices = routes.choices("m").unwrap();
    assert_eq!(choices.len(), 3);
    routes.let_rest(&choices[0]);
    drop(choices);
    for _ in 0..6 {
        let last = routes.choices("m").unwrap().pop().unwrap();
        assert_eq!(last.model.as_deref(), Some("a"));
    }
}

#[test]
fn the_largest_number_of_rounds_of_a_group_holds() {
    let with = |rounds| Member::new(Arc::new(Loopback), None, rounds);
    let routes = Routes::named(
        [("m".to_owned(), with(Some(3))), ("m".to_owned(), with(Some(9))), ("n".to_owned(), with(None))],
        None,
    );
    assert_eq!((routes.rounds("m"), routes.rounds("n"), routes.rounds("x")), (Some(9), None, None));
}

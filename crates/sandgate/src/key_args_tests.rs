//! Times as people write them, and limits over limits.

use clap::Parser;

use super::*;
use crate::cli::{Cli, Command};

fn limits(words: &[&str]) -> LimitArgs {
    match parsed(words).unwrap() {
        KeyCommand::Limit { limits, .. } => limits,
        other => panic!("{other:?}"),
    }
}

fn parsed(words: &[&str]) -> Result<KeyCommand, clap::Error> {
    let cli = Cli::try_parse_from(["sandgate", "key", "limit", "key_1"].iter().chain(words))?;
    match cli.command {
        Command::Key(args) => Ok(args.command),
        other => panic!("{other:?}"),
    }
}

#[test]
fn times_have_units() {
    assert_eq!(seconds("90"), Ok(90));
    assert_eq!(seconds("2m"), Ok(120));
    assert_eq!(seconds("12h"), Ok(43_200));
    assert_eq!(seconds("30d"), Ok(2_592_000));
    for text in ["", "0", "d", "-1", "1w", "1.5h"] {
        assert!(seconds(text).is_err(), "{text}");
    }
}

#[test]
fn limits_that_are_not_named_stay() {
    let there = KeyLimits { containers: Some(2), log_code: Some(true), ..KeyLimits::default() };
    let named = LimitArgs { executions: Some(3), log_code: Some(false), ..LimitArgs::default() };
    let expected =
        KeyLimits { containers: Some(2), executions: Some(3), log_code: Some(false), ..KeyLimits::default() };
    assert_eq!(named.over(there), expected);
}

#[test]
fn a_network_is_words_that_replace_those_there() {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let there = KeyLimits { network: Some(words(&["open"])), ..KeyLimits::default() };
    assert_eq!(limits(&[]).over(there.clone()), there);
    let named = limits(&["--network", "*.example.org,registries", "--network", "192.0.2.0/24"]).over(there);
    assert_eq!(named.network, Some(words(&["*.example.org", "registries", "192.0.2.0/24"])));
    assert!(named.check().is_ok());
}

#[test]
fn a_limit_is_taken_off_by_its_name() {
    let there = KeyLimits { containers: Some(2), backend: Some("a".to_owned()), ..KeyLimits::default() };
    let KeyCommand::Limit { limits, unset, .. } =
        parsed(&["--unset", "backend,requests-per-minute", "--executions", "3"]).unwrap()
    else {
        panic!("another command")
    };
    let mut left = there.clone();
    unset.iter().for_each(|name| name.take_off(&mut left));
    let expected = KeyLimits { executions: Some(3), backend: None, ..there };
    assert_eq!(limits.over(left), expected);
}

#[test]
fn what_is_no_limit_says_how_one_is_taken_off() {
    for words in [["--containers", "none"], ["--backend", ""], ["--backend", " "]] {
        let error = parsed(&words).unwrap_err();
        assert!(error.to_string().contains("--unset"), "{error}");
        assert_eq!(error.exit_code(), 2);
    }
    assert!(parsed(&["--unset", "nothing"]).is_err());
}

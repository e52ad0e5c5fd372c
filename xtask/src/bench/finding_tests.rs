//! What is shown of a finding.

use super::*;
use crate::bench::targets::Bound;

fn finding(measured: Option<f64>) -> Finding {
    Finding {
        name: "speed",
        arguments: String::new(),
        measured: "on this machine".to_owned(),
        tables: vec!["| a table |".to_owned()],
        bars: vec![Target::new("added, ms", Bound::AtMost(1.0), measured)],
        samples: Samples::default(),
    }
}

#[test]
fn a_bar_that_is_missed_is_said_aloud() {
    assert!(finding(Some(1.0)).as_text().ends_with("| added, ms | ≤ 1 | 1.00 | held |"));
    assert!(finding(Some(1.1)).as_text().ends_with("| added, ms | ≤ 1 | 1.10 | **not held** |"));
    assert!(finding(None).as_text().ends_with("| added, ms | ≤ 1 |  | **not held** |"));
}

#[test]
fn the_command_comes_first_as_it_is_typed() {
    let text = finding(None).as_text();
    assert!(text.starts_with("`cargo xtask bench speed`\n\non this machine\n\n| a table |"), "{text}");
    let finding = Finding { arguments: "--quick".to_owned(), ..finding(None) };
    assert!(finding.as_text().starts_with("`cargo xtask bench speed --quick`"));
}

#[test]
fn every_sample_is_kept() -> Result<()> {
    let mut finding = finding(None);
    finding.samples.add_all("added_ms", &[1.5, 2.5]);
    let json: serde_json::Value = serde_json::from_str(&finding.as_json()?)?;
    assert_eq!(json["samples"]["added_ms"], serde_json::json!([1.5, 2.5]));
    assert_eq!(json["summaries"]["added_ms"]["median"], 2.0);
    Ok(())
}

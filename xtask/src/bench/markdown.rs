//! Tables and figures as BENCHMARKS.md has them.

/// Three digits that count.
pub(super) fn figure(value: Option<f64>) -> String {
    match value {
        None => String::new(),
        Some(0.0) => "0".to_owned(),
        Some(value) if value.abs() >= 100.0 => format!("{value:.0}"),
        Some(value) if value.abs() >= 10.0 => format!("{value:.1}"),
        Some(value) if value.abs() >= 1.0 => format!("{value:.2}"),
        Some(value) => format!("{value:.3}"),
    }
}

/// The first column to the left, figures to the right.
pub(super) fn table<const COLUMNS: usize>(rows: &[[String; COLUMNS]]) -> String {
    let line = |row: &[String; COLUMNS]| format!("| {} |", row.join(" | "));
    let mut lines: Vec<String> = rows.iter().map(line).collect();
    let rule = std::iter::once("---").chain(std::iter::repeat_n("---:", COLUMNS - 1));
    lines.insert(1, format!("| {} |", rule.collect::<Vec<_>>().join(" | ")));
    lines.join("\n")
}

#[cfg(test)]
#[path = "markdown_tests.rs"]
mod tests;

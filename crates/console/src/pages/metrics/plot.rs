//! A small plot: up to two lines over time, drawn with attributes alone.

use std::fmt::Write;

use maud::{Markup, html};

const WIDTH: f64 = 300.0;
const HEIGHT: f64 = 64.0;
/// Above the highest point.
const AIR: f64 = 4.0;

#[derive(Debug)]
pub(super) struct Line {
    name: &'static str,
    tone: &'static str,
    values: Vec<f64>,
}

impl Line {
    pub(super) fn new(name: &'static str, values: Vec<f64>) -> Self {
        Self { name, tone: "first", values }
    }

    pub(super) fn second(name: &'static str, values: Vec<f64>) -> Self {
        Self { name, tone: "second", values }
    }

    /// Best flat at nothing.
    pub(super) fn warning(name: &'static str, values: Vec<f64>) -> Self {
        Self { name, tone: "warning", values }
    }

    fn last(&self) -> Option<f64> {
        self.values.iter().rev().copied().find(|value| value.is_finite())
    }
}

/// `show` writes a value with its unit.
pub(super) fn plot(title: &str, show: &dyn Fn(f64) -> String, lines: &[Line]) -> Markup {
    let top = lines.iter().flat_map(|line| &line.values).copied().filter(|value| value.is_finite());
    let top = top.fold(0.0, f64::max);
    html! {
        figure.plot {
            figcaption {
                h2 { (title) }
                @for line in lines {
                    span class={ "legend " (line.tone) } {
                        (line.name) " " strong { (line.last().map_or_else(|| "–".to_owned(), show)) }
                    }
                }
            }
            svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } preserveAspectRatio="none" role="img"
                aria-label={ (title) ", at most " (show(top)) } {
                line.ground x1="0" x2=(WIDTH) y1=(HEIGHT - 0.5) y2=(HEIGHT - 0.5) {}
                @for line in lines {
                    path class={ "line " (line.tone) } d=(way(&line.values, top)) vector-effect="non-scaling-stroke" {}
                }
            }
            p.top { "at most " (show(top)) }
        }
    }
}

/// Where nothing is known the line is broken.
fn way(values: &[f64], top: f64) -> String {
    let count = values.len().saturating_sub(1).max(1);
    let step = WIDTH / f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    let scale = if top > 0.0 { (HEIGHT - AIR) / top } else { 0.0 };
    let (mut way, mut is_down, mut x) = (String::new(), false, 0.0);
    for value in values {
        if value.is_finite() {
            let y = HEIGHT - 1.0 - value * scale;
            // One point alone is a dash that can be seen.
            let (word, dash) = if is_down { ('L', "") } else { ('M', "h2") };
            // Writing to a String does not fail.
            let _ = write!(way, "{word}{x:.1} {y:.1}{dash}");
        }
        is_down = value.is_finite();
        x += step;
    }
    way
}

#[cfg(test)]
#[path = "plot_tests.rs"]
mod tests;

//! Text as a table: the beginning of it, cells as they are written.

use maud::{Markup, html};

use crate::pieces::number;

const MOST_ROWS: usize = 200;
const MOST_COLUMNS: usize = 50;
const MOST_IN_A_CELL: usize = 300;

pub(super) fn table(text: &str, separator: char) -> Markup {
    let (rows, is_cut) = rows(text, separator);
    let mut rows = rows.into_iter();
    let head = rows.next().unwrap_or_default();
    html! {
        div.sheet tabindex="0" role="region" aria-label="Table" {
            table {
                thead { tr { th.number {} @for cell in &head { th scope="col" { (cell) } } } }
                tbody {
                    @for (place, row) in rows.enumerate() {
                        tr { th.number scope="row" { (number(place as u64 + 1)) } @for cell in &row { td { (cell) } } }
                    }
                }
            }
        }
        @if is_cut {
            p.hint { "At most " (MOST_ROWS) " rows and " (MOST_COLUMNS) " columns are shown." }
        }
    }
}

/// As RFC 4180 has it, and as people write it; whether there is more than is told.
fn rows(text: &str, separator: char) -> (Vec<Vec<String>>, bool) {
    let (mut rows, mut row, mut cell) = (Vec::new(), Vec::new(), String::new());
    let (mut is_quoted, mut is_cut) = (false, false);
    let mut letters = text.strip_prefix('\u{feff}').unwrap_or(text).chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if is_quoted && letters.peek() == Some(&'"') => {
                letters.next();
                cell.push('"');
            }
            '"' if is_quoted || cell.is_empty() => is_quoted = !is_quoted,
            '\r' if !is_quoted => {}
            '\n' if !is_quoted => {
                end_cell(&mut row, &mut cell, &mut is_cut);
                rows.push(std::mem::take(&mut row));
                if rows.len() > MOST_ROWS {
                    return (rows, is_cut || letters.peek().is_some());
                }
            }
            letter if letter == separator && !is_quoted => end_cell(&mut row, &mut cell, &mut is_cut),
            letter if cell.len() < MOST_IN_A_CELL => cell.push(letter),
            _ => is_cut = true,
        }
    }
    if !cell.is_empty() || !row.is_empty() {
        end_cell(&mut row, &mut cell, &mut is_cut);
        rows.push(row);
    }
    (rows, is_cut)
}

fn end_cell(row: &mut Vec<String>, cell: &mut String, is_cut: &mut bool) {
    let cell = std::mem::take(cell);
    if row.len() < MOST_COLUMNS {
        row.push(cell);
    } else {
        *is_cut = true;
    }
}

#[cfg(test)]
#[path = "csv_tests.rs"]
mod tests;

//! The screen of a terminal: bytes of hostile programs in, rows of plain text with colours out, only those that
//! changed.

use std::num::NonZeroU16;

use serde::Serialize;
use vt100::{Color, Parser};

/// Rows that scrolled off the top and can be looked at again.
const SCROLLBACK: usize = 1000;
const COLUMNS: (u16, u16) = (20, 300);
const ROWS: (u16, u16) = (5, 100);

/// Letters that look the same.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Piece(String, Colour, Colour, u8);

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(super) enum Colour {
    Usual,
    /// Of the 256 that terminals have numbers for.
    Number(u8),
    /// `#rrggbb`.
    Exact(String),
}

type Row = Vec<Piece>;

const BOLD: u8 = 1;
const DIM: u8 = 2;
const ITALIC: u8 = 4;
const UNDERLINE: u8 = 8;
const INVERSE: u8 = 16;

/// What the page does not know yet.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Update {
    #[serde(rename = "type")]
    kind: &'static str,
    columns: u16,
    height: u16,
    /// By their numbers from the top.
    rows: Vec<(usize, Row)>,
    /// Row and column; None: it is not to be seen.
    cursor: Option<(u16, u16)>,
    /// How far back the rows are that are shown.
    back: usize,
    /// Whether a program has the whole screen for itself.
    alternate: bool,
}

pub(super) struct Screen {
    parser: Parser,
    /// What the page has.
    known: Vec<Row>,
    /// All else of the last update.
    last: Option<Update>,
}

impl Screen {
    pub(super) fn new(columns: u16, rows: u16) -> Self {
        let (columns, rows) = within(columns, rows);
        Self { parser: Parser::new(rows, columns, SCROLLBACK), known: Vec::new(), last: None }
    }

    /// Another page looks on, and knows nothing yet.
    pub(super) fn forget(&mut self) {
        self.known.clear();
        self.last = None;
    }

    pub(super) fn feed(&mut self, bytes: &[u8]) {
        self.parser.process(bytes);
    }

    pub(super) fn size(&self) -> (u16, u16) {
        let (rows, columns) = self.parser.screen().size();
        (columns.get(), rows.get())
    }

    /// The size it got, which may be another than was asked for.
    pub(super) fn resize(&mut self, columns: u16, rows: u16) -> (u16, u16) {
        let (columns, rows) = within(columns, rows);
        self.parser.screen_mut().set_size(rows, columns);
        (columns.get(), rows.get())
    }

    /// Shows rows that scrolled off; 0 is the present.
    pub(super) fn look_back(&mut self, rows: usize) {
        self.parser.screen_mut().set_scrollback(rows.min(SCROLLBACK));
    }

    pub(super) fn is_application_cursor(&self) -> bool {
        self.parser.screen().application_cursor()
    }

    pub(super) fn is_bracketed_paste(&self) -> bool {
        self.parser.screen().bracketed_paste()
    }

    /// None: the page has it all.
    pub(super) fn update(&mut self) -> Option<Update> {
        let screen = self.parser.screen();
        let (height, columns) = screen.size();
        let fresh: Vec<Row> = (0..height.get()).map(|row| self.row(row, columns.get())).collect();
        let rows = changed(&self.known, &fresh);
        let back = screen.scrollback();
        let is_seen = !screen.hide_cursor() && back == 0;
        // All but the rows, as it is remembered.
        let frame = Update {
            kind: "screen",
            columns: columns.get(),
            height: height.get(),
            rows: Vec::new(),
            cursor: is_seen.then(|| screen.cursor_position()),
            back,
            alternate: screen.alternate_screen(),
        };
        self.known = fresh;
        if rows.is_empty() && self.last.as_ref() == Some(&frame) {
            return None;
        }
        self.last = Some(frame.clone());
        Some(Update { rows, ..frame })
    }

    fn row(&self, row: u16, columns: u16) -> Row {
        let mut pieces: Row = Vec::new();
        for column in 0..columns {
            let Some(cell) = self.parser.screen().cell(row, column) else { break };
            if cell.is_wide_continuation() {
                continue;
            }
            let text = if cell.has_contents() { cell.contents() } else { " " };
            let flags = [
                (cell.bold(), BOLD),
                (cell.dim(), DIM),
                (cell.italic(), ITALIC),
                (cell.underline(), UNDERLINE),
                (cell.inverse(), INVERSE),
            ];
            let flags = flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| flag).sum();
            let (front, behind) = (colour(cell.fgcolor()), colour(cell.bgcolor()));
            match pieces.last_mut() {
                Some(Piece(so_far, of, on, with)) if *of == front && *on == behind && *with == flags => {
                    so_far.push_str(text);
                }
                _ => pieces.push(Piece(text.to_owned(), front, behind, flags)),
            }
        }
        without_blanks(pieces)
    }
}

impl std::fmt::Debug for Screen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Screen")
    }
}

/// Rows that differ, with their numbers.
fn changed(known: &[Row], fresh: &[Row]) -> Vec<(usize, Row)> {
    let is_new = |(place, row): &(usize, &Row)| known.get(*place) != Some(row);
    fresh.iter().enumerate().filter(is_new).map(|(place, row)| (place, row.clone())).collect()
}

/// Blanks at the end that nobody sees are not sent.
fn without_blanks(mut pieces: Row) -> Row {
    if let Some(Piece(text, _, Colour::Usual, 0)) = pieces.last_mut() {
        text.truncate(text.trim_end_matches(' ').len());
        if text.is_empty() {
            pieces.pop();
        }
    }
    pieces
}

fn colour(colour: Color) -> Colour {
    match colour {
        Color::Default => Colour::Usual,
        Color::Idx(number) => Colour::Number(number),
        Color::Rgb(red, green, blue) => Colour::Exact(format!("#{red:02x}{green:02x}{blue:02x}")),
    }
}

fn within(columns: u16, rows: u16) -> (NonZeroU16, NonZeroU16) {
    let bounded = |size: u16, (least, most): (u16, u16)| {
        NonZeroU16::new(size.clamp(least, most)).unwrap_or(NonZeroU16::MIN)
    };
    (bounded(columns, COLUMNS), bounded(rows, ROWS))
}

#[cfg(test)]
#[path = "screen_tests.rs"]
mod tests;

//! Code for the eye: Python in colours, by its own grammar; other languages as they are. What is shown is what
//! runs: letters that cannot be seen are named.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use maud::{Markup, PreEscaped, html};
use tree_sitter::{ParseOptions, ParseState, Parser, Tree, TreeCursor};

use crate::problem::Problem;
use crate::visible::Visible;

/// Longer code is shown plain.
const MOST_BYTES: usize = 64 << 10;
/// Some texts are made to take long; they are shown plain too.
const LONGEST: Duration = Duration::from_millis(50);
/// For all the code on one page.
const LONGEST_IN_ALL: Duration = Duration::from_millis(200);
/// Nodes between two looks at the clock.
const LOOK_EVERY: usize = 1000;

/// What is left of the time for colours on one page.
#[derive(Debug)]
pub(crate) struct Ink(Cell<Duration>);

/// Draws a part of a page with code in it, where it holds up nobody else.
pub(crate) async fn drawn(draw: impl FnOnce(&Ink) -> Markup + Send + 'static) -> Result<Markup, Problem> {
    let drawing = tokio::task::spawn_blocking(move || draw(&Ink(Cell::new(LONGEST_IN_ALL))));
    drawing.await.map_err(|error| {
        tracing::error!(%error, "a page could not be drawn");
        Problem::Internal
    })
}

impl Ink {
    pub(crate) fn code(&self, language: &str, text: &str) -> Markup {
        let is_python = language.eq_ignore_ascii_case("python");
        let pieces = if is_python { self.coloured(text) } else { None };
        let mut visible = Visible::default();
        let mut done = 0;
        for (class, piece) in pieces.unwrap_or_else(|| vec![("", text)]) {
            done += piece.len();
            let after = text.get(done..).unwrap_or_default();
            if class.is_empty() {
                visible.piece(piece, after, is_python);
            } else {
                visible.markup.push_str("<span class=\"");
                visible.markup.push_str(class);
                visible.markup.push_str("\">");
                visible.piece(piece, after, is_python);
                visible.markup.push_str("</span>");
            }
        }
        html! { pre.code tabindex="0" aria-label="Code" { code { (PreEscaped(visible.markup)) } } }
    }

    /// The whole text in pieces, each with the class of its colour.
    fn coloured<'a>(&self, text: &'a str) -> Option<Vec<(&'static str, &'a str)>> {
        let longest = self.0.get().min(LONGEST);
        if text.len() > MOST_BYTES || longest.is_zero() {
            return None;
        }
        let began = Instant::now();
        let pieces = coloured(text, &|| began.elapsed() < longest);
        self.0.set(self.0.get().saturating_sub(began.elapsed()));
        pieces
    }
}

fn coloured<'a>(text: &'a str, in_time: &dyn Fn() -> bool) -> Option<Vec<(&'static str, &'a str)>> {
    let tree = parse(text, in_time)?;
    let mut cursor = tree.walk();
    // Kind and field of the nodes above: asking a node for its parent searches from the top.
    let mut above: Vec<(&str, Option<&str>)> = Vec::new();
    let (mut pieces, mut done, mut seen) = (Vec::new(), 0, 0_usize);
    // Without recursion: hostile code nests as deep as it likes.
    loop {
        seen += 1;
        if seen.is_multiple_of(LOOK_EVERY) && !in_time() {
            return None;
        }
        let node = cursor.node();
        let class = class_of(&cursor, &above);
        let here = (node.kind(), cursor.field_name());
        if class.is_empty() && cursor.goto_first_child() {
            above.push(here);
            continue;
        }
        let (from, to) = (node.start_byte().max(done), node.end_byte());
        if !class.is_empty() && from < to {
            pieces.push(("", text.get(done..from)?));
            pieces.push((class, text.get(from..to)?));
            done = to;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                pieces.push(("", text.get(done..)?));
                return Some(pieces);
            }
            above.pop();
        }
    }
}

/// Empty: it has no colour as a whole, and its parts are looked at.
fn class_of(cursor: &TreeCursor<'_>, above: &[(&str, Option<&str>)]) -> &'static str {
    let node = cursor.node();
    match node.kind() {
        "comment" => "c-comment",
        "string_start" | "string_content" | "string_end" => "c-string",
        "integer" | "float" | "true" | "false" | "none" => "c-number",
        "identifier" if is_called(cursor.field_name(), above) => "c-name",
        word if !node.is_named() && word.bytes().all(|byte| byte.is_ascii_alphabetic()) => "c-keyword",
        _ => "",
    }
}

/// It is the name of something that is defined or called here.
fn is_called(field: Option<&str>, above: &[(&str, Option<&str>)]) -> bool {
    matches!(
        (above, field),
        ([.., ("function_definition" | "class_definition", _)], Some("name"))
            | ([.., ("call", _)], Some("function"))
            | ([.., ("call", _), ("attribute", Some("function"))], Some("attribute"))
    )
}

fn parse(text: &str, in_time: &dyn Fn() -> bool) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_python::LANGUAGE.into()).ok()?;
    let mut go_on =
        |_: &ParseState| if in_time() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
    // As Python itself reads it: a lone carriage return ends a line, and a comment with it. What stands where
    // stays the same.
    let mut bytes = text.as_bytes().to_vec();
    for at in 0..bytes.len() {
        if bytes.get(at) == Some(&b'\r')
            && bytes.get(at + 1) != Some(&b'\n')
            && let Some(byte) = bytes.get_mut(at)
        {
            *byte = b'\n';
        }
    }
    let options = ParseOptions::new().progress_callback(&mut go_on);
    parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), None, Some(options))
}

#[cfg(test)]
#[path = "code_tests.rs"]
mod tests;

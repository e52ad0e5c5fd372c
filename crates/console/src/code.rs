//! Code for the eye: Python in colours, by its own grammar; other languages as they are.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use maud::{Markup, html};
use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree};

/// Longer code is shown plain.
const MOST_BYTES: usize = 64 << 10;
/// Some texts are made to take long; they are shown plain too.
const LONGEST: Duration = Duration::from_millis(50);

pub(crate) fn code(language: &str, text: &str) -> Markup {
    let pieces = if language.eq_ignore_ascii_case("python") { coloured(text) } else { None };
    html! {
        pre.code tabindex="0" aria-label="Code" {
            code {
                @match pieces {
                    None => (text),
                    Some(pieces) => @for (class, text) in pieces {
                        @if class.is_empty() { (text) } @else { span class=(class) { (text) } }
                    },
                }
            }
        }
    }
}

/// The whole text in pieces, each with the class of its colour.
fn coloured(text: &str) -> Option<Vec<(&'static str, &str)>> {
    if text.len() > MOST_BYTES {
        return None;
    }
    let tree = parse(text)?;
    let mut cursor = tree.walk();
    let (mut pieces, mut done) = (Vec::new(), 0);
    // Without recursion: hostile code nests as deep as it likes.
    loop {
        let node = cursor.node();
        let class = class_of(node);
        if class.is_empty() && cursor.goto_first_child() {
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
        }
    }
}

/// Empty: it has no colour as a whole, and its parts are looked at.
fn class_of(node: Node<'_>) -> &'static str {
    match node.kind() {
        "comment" => "c-comment",
        "string_start" | "string_content" | "string_end" => "c-string",
        "integer" | "float" | "true" | "false" | "none" => "c-number",
        "identifier" if is_called(node) => "c-name",
        word if !node.is_named() && word.bytes().all(|byte| byte.is_ascii_alphabetic()) => "c-keyword",
        _ => "",
    }
}

/// It is the name of something that is defined or called here.
fn is_called(node: Node<'_>) -> bool {
    let Some(parent) = node.parent() else { return false };
    let field = match parent.kind() {
        "function_definition" | "class_definition" => "name",
        "call" => "function",
        "attribute" => {
            let is_called = parent.parent().is_some_and(|call| {
                call.kind() == "call" && call.child_by_field_name("function") == Some(parent)
            });
            return is_called && parent.child_by_field_name("attribute") == Some(node);
        }
        _ => return false,
    };
    parent.child_by_field_name(field) == Some(node)
}

fn parse(text: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_python::LANGUAGE.into()).ok()?;
    let began = Instant::now();
    let mut in_time = |_: &ParseState| {
        if began.elapsed() < LONGEST { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let bytes = text.as_bytes();
    let options = ParseOptions::new().progress_callback(&mut in_time);
    parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), None, Some(options))
}

#[cfg(test)]
#[path = "code_tests.rs"]
mod tests;

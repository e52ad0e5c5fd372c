//! Small parts that pages are made of.

use maud::{Markup, html};

use crate::layout::csrf;
use crate::visitor::Visitor;

/// How something stands, in a word and a colour.
pub(crate) fn pill(status: &str) -> Markup {
    let tone = match status {
        "completed" | "running" | "allowed" | "ok" | "healthy" | "active" => "good",
        "failed" | "denied" | "lost" | "revoked" | "unhealthy" => "bad",
        "incomplete" | "cancelled" | "paused" | "expired" | "held" => "warn",
        _ => "calm",
    };
    html! { span class={ "pill " (tone) (if status == "running" { " under-way" } else { "" }) } { (status) } }
}

/// An id: its beginning for the eye, the whole of it to be copied.
pub(crate) fn id(id: &str) -> Markup {
    html! {
        span.id {
            code title=(id) { (short(id)) }
            (copy(id))
        }
    }
}

/// The same as a link.
pub(crate) fn id_link(id: &str, href: &str) -> Markup {
    html! {
        span.id {
            a href=(href) title=(id) { code { (short(id)) } }
            (copy(id))
        }
    }
}

pub(crate) fn copy(text: &str) -> Markup {
    html! {
        button.copy type="button" data-copy=(text) aria-label="Copy" title="Copy" {
            (crate::layout::icon("M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z"))
        }
    }
}

/// What begins the same for many, and what tells them apart.
fn short(id: &str) -> String {
    const HEAD: usize = 14;
    const TAIL: usize = 4;
    let count = id.chars().count();
    if count <= HEAD + TAIL + 1 {
        return id.to_owned();
    }
    let head: String = id.chars().take(HEAD).collect();
    let tail: String = id.chars().skip(count - TAIL).collect();
    format!("{head}…{tail}")
}

/// There is nothing, and this is what can be done about it.
pub(crate) fn empty(title: &str, hint: &Markup) -> Markup {
    html! {
        div.empty {
            p.title { (title) }
            p { (hint) }
        }
    }
}

/// The head of a table, with those columns aligned to the right that hold numbers. Without a name: for buttons.
pub(crate) fn heads(names: &[&str], numbers: &[&str]) -> Markup {
    html! {
        thead { tr {
            @for name in names {
                th.number[numbers.contains(name)] scope="col" {
                    @if name.is_empty() { span.visually-hidden { "Actions" } } @else { (name) }
                }
            }
        } }
    }
}

/// A button that changes something. `ask`: what is asked before.
pub(crate) fn action(visitor: &Visitor, path: &str, name: &str, class: &str, ask: Option<&str>) -> Markup {
    html! {
        form method="post" action=(path) data-confirm=[ask] {
            (csrf(visitor))
            button class=(class) type="submit" { (name) }
        }
    }
}

/// A part of a whole, as a bar.
pub(crate) fn meter(used: u64, limit: u64) -> Markup {
    let part = used.saturating_mul(100).checked_div(limit).unwrap_or_default().min(100);
    let tone = if part >= 90 {
        "bad"
    } else if part >= 70 {
        "warn"
    } else {
        "good"
    };
    html! {
        svg class={ "meter " (tone) } viewBox="0 0 100 6" preserveAspectRatio="none" role="img"
            aria-label={ (part) " percent" } {
            rect.track width="100" height="6" {}
            rect.value width=(part) height="6" {}
        }
    }
}

/// A number with thin spaces between thousands.
pub(crate) fn number(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
#[path = "pieces_tests.rs"]
mod tests;

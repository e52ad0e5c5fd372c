//! The frame around every page: where one can go, who is signed in, and what all pages load.

use axum::response::{Html, IntoResponse, Response};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::assets::address;
use crate::pages::{SECTIONS, Section, approvals};
use crate::visitor::Visitor;

/// A page to be shown.
#[derive(Debug)]
pub(crate) struct Page<'a> {
    title: &'a str,
    visitor: &'a Visitor,
    body: Markup,
    section: Option<&'a Section>,
    /// What stands beside the title: buttons, a state.
    aside: Option<Markup>,
    /// Scripts of this page alone, by their names.
    scripts: &'a [&'a str],
}

impl<'a> Page<'a> {
    pub(crate) fn new(title: &'a str, visitor: &'a Visitor, body: Markup) -> Self {
        Self { title, visitor, body, section: None, aside: None, scripts: &[] }
    }

    /// Which one is lit in the navigation.
    pub(crate) fn section(self, path: &str) -> Self {
        Self { section: SECTIONS.iter().find(|section| section.path == path), ..self }
    }

    pub(crate) fn aside(self, aside: Markup) -> Self {
        Self { aside: Some(aside), ..self }
    }

    pub(crate) fn scripts(self, scripts: &'a [&'a str]) -> Self {
        Self { scripts, ..self }
    }
}

impl IntoResponse for Page<'_> {
    fn into_response(self) -> Response {
        let Self { title, visitor, body, section, aside, scripts } = self;
        let content = html! {
            a.skip href="#main" { "To the content" }
            div.frame {
                header.bar {
                    a.brand href="/console" { (brand()) span { "Sandgate" } }
                    (navigation(section, visitor.held))
                    (person(visitor))
                }
                main id="main" tabindex="-1" {
                    @if visitor.is_open() { (open_notice()) }
                    div.head {
                        h1 { (title) }
                        @if let Some(aside) = aside { div.aside { (aside) } }
                    }
                    (body)
                }
            }
            (help())
            div.toast id="toast" role="status" aria-live="polite" {}
        };
        let head = html! {
            meta name="csrf" content=(visitor.csrf.0);
            @for script in ["console.js", "live.js", "keyboard.js"].iter().chain(scripts) {
                script type="module" src=(address(script)) {}
            }
        };
        document(title, visitor.theme, &head, &content)
    }
}

/// A page without navigation, for whoever is not signed in.
pub(crate) fn bare(title: &str, theme: Option<&str>, body: &Markup) -> Response {
    let content = html! {
        main.bare id="main" {
            p.brand { (brand()) span { "Sandgate" } }
            (body)
        }
    };
    document(title, theme, &html! {}, &content)
}

fn document(title: &str, theme: Option<&str>, head: &Markup, body: &Markup) -> Response {
    let page = html! {
        (DOCTYPE)
        html lang="en" data-theme=[theme] {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · Sandgate" }
                link rel="icon" href=(address("icon.svg"));
                link rel="stylesheet" href=(address("console.css"));
                link rel="stylesheet" href=(address("workbench.css"));
                (head)
            }
            body { (body) }
        }
    };
    Html(page.into_string()).into_response()
}

fn brand() -> Markup {
    PreEscaped(include_str!("assets/icon.svg").to_owned())
}

fn navigation(current: Option<&Section>, held: usize) -> Markup {
    html! {
        nav id="sections" aria-label="Console" data-waiting="/console/waiting" {
            ul {
                @for section in &SECTIONS {
                    @let is_current = current.is_some_and(|current| current.path == section.path);
                    li {
                        a href=(section.path) aria-current=[is_current.then_some("page")] data-go=(section.key) {
                            (icon(section.icon))
                            span { (section.name) }
                            @if section.path == approvals::PATH {
                                span.count aria-label={ (held) " wait" } hidden[held == 0] { (held) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Lines of one colour on a grid of 16.
pub(crate) fn icon(path: &str) -> Markup {
    html! {
        svg.icon viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" fill="none" stroke="currentColor"
            stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" { path d=(path); }
    }
}

fn person(visitor: &Visitor) -> Markup {
    html! {
        div.person {
            span.who title="Signed in as" { (visitor.name()) }
            button.quiet type="button" data-theme-toggle aria-label="Light or dark" title="Light or dark" {
                (icon("M8 1.5v1M8 13.5v1M1.5 8h1M13.5 8h1M3.4 3.4l.7.7M11.9 11.9l.7.7M3.4 12.6l.7-.7M11.9 4.1l.7-.7M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6"))
            }
            button.quiet type="button" data-help aria-label="Keys of the keyboard" title="Keys of the keyboard (?)" { "?" }
            @if !visitor.is_open() {
                form method="post" action="/console/sign-out" {
                    (csrf(visitor))
                    button.quiet type="submit" { "Sign out" }
                }
            }
        }
    }
}

/// In every form that changes something.
pub(crate) fn csrf(visitor: &Visitor) -> Markup {
    html! { input type="hidden" name="csrf" value=(visitor.csrf.0); }
}

fn open_notice() -> Markup {
    html! {
        p.notice {
            "This server has no keys: whoever is on this machine may do everything. Start it with "
            code { "SANDGATE_MASTER_KEY" } " to have people sign in."
        }
    }
}

fn help() -> Markup {
    let keys = [
        ("j k", "next, previous"),
        ("Enter", "open"),
        ("/", "to the search"),
        ("a d r", "approve, deny, reason"),
        ("n", "new key"),
        ("g then a letter", "go to a page"),
        ("?", "this"),
    ];
    html! {
        dialog id="help" aria-label="Keys of the keyboard" {
            h2 { "Keys" }
            dl.keys {
                @for (key, what) in keys { dt { kbd { (key) } } dd { (what) } }
                @for section in &SECTIONS { dt { kbd { "g " (section.key) } } dd { (section.name) } }
            }
            form method="dialog" { button { "Close" } }
        }
    }
}

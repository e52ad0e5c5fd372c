//! Whether what was typed is a whole piece of its language, as cheaply as a prompt needs it. When in doubt it is
//! whole, and the language says what is wrong.

use sandgate_engine::runtime::languages::Language;

use super::complete::is_complete;
use super::complete_braces::{Rules, is_closed};
use super::complete_shell;

pub(super) fn is_whole(language: Language, input: &str) -> bool {
    match language {
        Language::Python => is_complete(input),
        Language::Bash => complete_shell::is_complete(input),
        Language::JavaScript | Language::TypeScript => is_closed(
            input,
            &Rules { comment: "//", long_quote: Some("`"), hangs: &["=>", "=", "&&", "||", "+", ","] },
        ),
        Language::Java => is_closed(
            input,
            &Rules { comment: "//", long_quote: Some("\"\"\""), hangs: &["=", "&&", "||", "+", ",", "->"] },
        ),
        Language::Go => is_closed(
            input,
            &Rules { comment: "//", long_quote: Some("`"), hangs: &["=", "&&", "||", "+", ",", "."] },
        ),
        Language::R => is_closed(
            input,
            &Rules {
                comment: "#",
                long_quote: None,
                hangs: &["<-", "=", "+", ",", "|>", "%>%", "&&", "||", "else"],
            },
        ),
    }
}

#[cfg(test)]
#[path = "whole_tests.rs"]
mod tests;

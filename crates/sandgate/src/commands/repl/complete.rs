//! Whether what was typed is a whole piece of Python, as cheaply as a prompt needs it: brackets,
//! strings, a backslash at the end, and blocks, which end with an empty line. When in doubt it is
//! complete, and Python says what is wrong.

/// Words that begin a block even when its body stands on the same line.
const BLOCK_WORDS: [&str; 8] = ["if", "for", "while", "with", "try", "def", "class", "async"];

pub(super) fn is_complete(input: &str) -> bool {
    let (body, ended) = match input.strip_suffix('\n') {
        // Enter on an empty line.
        Some(body) => (body, true),
        None => (input, input.lines().next_back().is_some_and(|line| line.trim().is_empty())),
    };
    match body.trim_start().chars().next() {
        None => return true,
        // A cell magic takes lines up to an empty one; a line magic or a command is one line.
        Some('%') if body.trim_start().starts_with("%%") => return ended,
        Some('%' | '!' | '?') => return !body.ends_with('\\'),
        Some(_) => {}
    }
    match scan(body) {
        End::Open => false,
        End::Closed { in_block } => !in_block || ended,
    }
}

enum End {
    /// Inside brackets, a triple-quoted string or a continued line.
    Open,
    Closed {
        in_block: bool,
    },
}

fn scan(body: &str) -> End {
    let mut rest = body;
    let mut depth = 0usize;
    let mut in_block = false;
    let mut at_line_start = true;
    // The last character of the statement that is neither space nor comment.
    let mut last = '\n';
    while let Some(c) = rest.chars().next() {
        if at_line_start && depth == 0 {
            let line = rest.lines().next().unwrap_or_default();
            in_block |= begins_block(line);
            at_line_start = false;
        }
        match c {
            '#' => {
                rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
                continue;
            }
            '\'' | '"' => match after_string(rest, c) {
                Some(after) => {
                    last = c;
                    rest = after;
                    continue;
                }
                None => return End::Open,
            },
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            '\\' if matches!(&rest[1..], "" | "\n") => return End::Open,
            '\\' if rest[1..].starts_with('\n') => {
                rest = &rest[2..];
                continue;
            }
            '\n' => {
                in_block |= depth == 0 && last == ':';
                at_line_start = depth == 0;
            }
            _ => {}
        }
        if !c.is_whitespace() {
            last = c;
        }
        rest = &rest[c.len_utf8()..];
    }
    if depth > 0 {
        return End::Open;
    }
    End::Closed { in_block: in_block || last == ':' }
}

fn begins_block(line: &str) -> bool {
    let word = line.trim_start().split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
    line.starts_with('@') || BLOCK_WORDS.contains(&word)
}

/// What follows the string that `text` begins with; None when it is not closed and may go on. A
/// string of one line that is not closed on it is Python's to complain about.
fn after_string(text: &str, quote: char) -> Option<&str> {
    let triple = text.starts_with(&quote.to_string().repeat(3));
    let opening = if triple { 3 } else { 1 };
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(opening) {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if c == quote && (!triple || text[at..].starts_with(&text[..3])) {
            return Some(&text[at + opening..]);
        } else if c == '\n' && !triple {
            return Some(&text[at..]);
        }
    }
    // A backslash at the very end continues even a string of one line.
    if triple || escaped { None } else { Some("") }
}

#[cfg(test)]
#[path = "complete_tests.rs"]
mod tests;

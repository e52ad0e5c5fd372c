//! Whether brackets, strings and comments of a language with braces are all closed, and no operator hangs at the end.

/// What differs between such languages.
pub(super) struct Rules {
    /// Begins a comment to the end of the line.
    pub(super) comment: &'static str,
    /// Quotes text of several lines.
    pub(super) long_quote: Option<&'static str>,
    /// A line that ends with one of these goes on.
    pub(super) hangs: &'static [&'static str],
}

pub(super) fn is_closed(input: &str, rules: &Rules) -> bool {
    // An empty line after something that only hangs gives it up; open brackets and strings stay open.
    let given_up = input.ends_with('\n');
    let mut depth = 0usize;
    let mut rest = input;
    // The code without its comments, to see what it ends with.
    let mut code = String::new();
    while let Some(c) = rest.chars().next() {
        if let Some(quote) = rules.long_quote.filter(|quote| rest.starts_with(quote)) {
            match long_string(&rest[quote.len()..], quote) {
                Some(after) => {
                    code.push('"');
                    rest = after;
                    continue;
                }
                None => return false,
            }
        }
        if rest.starts_with(rules.comment) {
            rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
            continue;
        }
        if rules.comment == "//" && rest.starts_with("/*") {
            match rest.find("*/") {
                Some(end) => {
                    rest = &rest[end + 2..];
                    continue;
                }
                None => return false,
            }
        }
        if matches!(c, '"' | '\'') {
            code.push('"');
            rest = short_string(&rest[1..], c);
            continue;
        }
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        code.push(c);
        rest = &rest[c.len_utf8()..];
    }
    let code = code.trim_end();
    let counts_up = code.ends_with("++") || code.ends_with("--");
    let hangs = !counts_up && rules.hangs.iter().any(|sign| code.ends_with(sign));
    depth == 0 && (given_up || !hangs)
}

/// What follows a string of several lines; None: it is open.
fn long_string<'a>(text: &'a str, quote: &str) -> Option<&'a str> {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if text[at..].starts_with(quote) {
            return Some(&text[at + quote.len()..]);
        }
    }
    None
}

/// What follows a string of one line. One that is not closed is the language's to complain about.
fn short_string(text: &str, quote: char) -> &str {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if c == quote {
            return &text[at + c.len_utf8()..];
        } else if c == '\n' {
            return &text[at..];
        }
    }
    ""
}

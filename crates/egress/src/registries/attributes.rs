//! The inside of a tag of HTML.

/// Where a tag ends: a `>` in quotes is part of a value.
pub(super) fn end_of_tag(text: &str) -> Option<usize> {
    let mut quote = None;
    text.bytes().position(|byte| {
        match (quote, byte) {
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            _ => {}
        }
        quote.is_none() && byte == b'>'
    })
}

/// Names and values, still escaped; one without a value has an empty one.
pub(super) struct Attributes<'a>(&'a str);

impl<'a> Attributes<'a> {
    pub(super) fn of(tag: &'a str) -> Self {
        Self(tag)
    }
}

impl<'a> Iterator for Attributes<'a> {
    type Item = (&'a str, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        let is_blank = |letter: char| letter.is_ascii_whitespace();
        let text = self.0.trim_start_matches(|letter| is_blank(letter) || "/\"'=".contains(letter));
        if text.is_empty() {
            return None;
        }
        let end = text.find(|letter| is_blank(letter) || "=/\"'".contains(letter)).unwrap_or(text.len());
        let (name, rest) = text.split_at(end);
        let Some(value) = rest.trim_start_matches(is_blank).strip_prefix('=') else {
            self.0 = rest;
            return Some((name, ""));
        };
        let value = value.trim_start_matches(is_blank);
        let quote = value.chars().next().filter(|first| matches!(first, '"' | '\''));
        let (value, rest) = match quote {
            Some(quote) => value[1..].split_once(quote).unwrap_or((&value[1..], "")),
            None => value.split_at(value.find(is_blank).unwrap_or(value.len())),
        };
        self.0 = rest;
        Some((name, value))
    }
}

#[cfg(test)]
#[path = "attributes_tests.rs"]
mod tests;

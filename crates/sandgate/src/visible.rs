//! Words of strangers on a terminal.

/// What a terminal would act on, or show as something else, is written out: it may be what somebody
/// wants to get past the reader.
pub(crate) fn visible(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\\' | '"' | '\'' | '\t') {
            plain.push(c);
        } else {
            plain.extend(c.escape_debug());
        }
    }
    plain
}

//! The name under which a client saves what it gets.

/// A plain name for old programs, the true one for the others (RFC 6266).
#[must_use]
pub fn disposition(how: &str, name: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || " ._-()".contains(letter);
    let plain: String = name.chars().map(|letter| if is_plain(letter) { letter } else { '_' }).collect();
    let encode = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    let encoded: String = name.bytes().map(encode).collect();
    format!("{how}; filename=\"{plain}\"; filename*=UTF-8''{encoded}")
}

#[cfg(test)]
#[path = "disposition_tests.rs"]
mod tests;

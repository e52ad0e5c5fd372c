//! The forms in which a server may repeat a value: as it is, or as the places are written that it stood in. Values
//! are printable ASCII, and so is every form of them.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

/// Shorter pieces of an encoding would be found where there is none.
const SHORTEST: usize = 8;

/// What libraries leave as it is when they write a URL, beside letters, digits and `-_.~`: most of them nothing,
/// Python's `quote` the slash, JavaScript's `encodeURIComponent` these.
const LEFT_IN_URLS: [&str; 3] = ["", "/", "!*'()"];

/// What libraries escape in JSON beside what they must: nothing, what would be read as HTML, and what .NET does.
const ESCAPED_IN_JSON: [&str; 3] = ["", "<>&", "<>&'\"+`"];

/// The longest first, so that none is found inside another.
pub(super) fn forms(value: &str) -> Vec<Vec<u8>> {
    let mut all = vec![value.as_bytes().to_vec()];
    for left in LEFT_IN_URLS {
        all.extend([false, true].map(|is_small| in_url(value, left, "%20", is_small)));
    }
    // As forms are sent.
    all.extend([false, true].map(|is_small| in_url(value, "*", "+", is_small)));
    for more in ESCAPED_IN_JSON {
        for slash in ["/", "\\/"] {
            all.extend([false, true].map(|is_small| in_json(value, more, slash, is_small)));
        }
    }
    for before in 0..3 {
        all.extend(in_base64(value, before, &STANDARD_NO_PAD));
        all.extend(in_base64(value, before, &URL_SAFE_NO_PAD));
    }
    all.sort_by(|one, other| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
    all.dedup();
    all
}

fn in_url(value: &str, left: &str, blank: &str, is_small: bool) -> Vec<u8> {
    let mut out = String::with_capacity(value.len());
    for byte in value.bytes() {
        match char::from(byte) {
            ' ' => out.push_str(blank),
            plain if plain.is_ascii_alphanumeric() || "-_.~".contains(plain) || left.contains(plain) => {
                out.push(plain);
            }
            _ if is_small => out.push_str(&format!("%{byte:02x}")),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out.into_bytes()
}

/// What must be escaped is, in the short way where there is one; `more` by its number.
fn in_json(value: &str, more: &str, slash: &str, is_small: bool) -> Vec<u8> {
    let mut out = String::with_capacity(value.len());
    for letter in value.chars() {
        match letter {
            _ if more.contains(letter) && is_small => out.push_str(&format!("\\u{:04x}", u32::from(letter))),
            _ if more.contains(letter) => out.push_str(&format!("\\u{:04X}", u32::from(letter))),
            '/' => out.push_str(slash),
            '"' | '\\' => out.extend(['\\', letter]),
            _ => out.push(letter),
        }
    }
    out.into_bytes()
}

/// What of its encoding does not depend on what stands around it, `before` bytes after a multiple of three.
fn in_base64(value: &str, before: usize, encoding: &impl Engine) -> Option<Vec<u8>> {
    let encoded = encoding.encode([&[0; 3][..before], value.as_bytes()].concat());
    let (start, end) = ((before * 8).div_ceil(6), (before + value.len()) * 8 / 6);
    let own = encoded.as_bytes().get(start..end)?;
    (own.len() >= SHORTEST).then(|| own.to_vec())
}

#[cfg(test)]
#[path = "forms_tests.rs"]
mod tests;

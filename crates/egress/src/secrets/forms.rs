//! The forms in which a server may repeat a value: as it is, or as the places are written that it stood in.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use super::placeholder::percent_encoded;

/// Shorter pieces of an encoding would be found where there is none.
const SHORTEST: usize = 8;

/// The longest first, so that none is found inside another.
pub(super) fn forms(value: &str) -> Vec<Vec<u8>> {
    let mut all = vec![value.as_bytes().to_vec(), percent_encoded(value).into_bytes(), in_json(value)];
    for before in 0..3 {
        all.extend(in_base64(value, before, &STANDARD_NO_PAD));
        all.extend(in_base64(value, before, &URL_SAFE_NO_PAD));
    }
    all.sort_by_key(|form| std::cmp::Reverse(form.len()));
    all.dedup();
    all
}

fn in_json(value: &str) -> Vec<u8> {
    let quoted = serde_json::Value::from(value).to_string();
    quoted.as_bytes()[1..quoted.len() - 1].to_vec()
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

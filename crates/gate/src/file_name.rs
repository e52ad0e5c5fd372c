//! Names of files as clients send them, made harmless: one name, not a path, of a bounded length.

/// With an id and a dash before it, a name still fits the 255 bytes a file system allows.
const LONGEST: usize = 200;
/// A longer ending is not one that anybody needs to recognise.
const LONGEST_ENDING: usize = 20;
/// For what has no name, or one of which nothing is left.
const NAMELESS: &str = "file";

/// The last part of the path, without characters that no name should have. Spaces, quotes and letters
/// of any language stay.
#[must_use]
pub fn clean_file_name(given: &str) -> String {
    let last = given.rsplit(['/', '\\']).next().unwrap_or_default();
    let kept: String = last.chars().filter(|letter| !is_harmful(*letter)).collect();
    let kept = kept.trim();
    if kept.is_empty() || kept.chars().all(|letter| letter == '.') {
        return NAMELESS.to_owned();
    }
    shortened(kept)
}

/// Control characters, and those that turn the direction of text around and so hide an ending.
fn is_harmful(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Cut in the middle, so that the ending, which tells what it is, stays.
fn shortened(name: &str) -> String {
    if name.len() <= LONGEST {
        return name.to_owned();
    }
    let ending = name.rfind('.').map(|at| &name[at..]).filter(|ending| ending.len() <= LONGEST_ENDING);
    let ending = ending.unwrap_or_default();
    let stem = &name[..name.floor_char_boundary(LONGEST - ending.len())];
    format!("{stem}{ending}")
}

#[cfg(test)]
#[path = "file_name_tests.rs"]
mod tests;

//! Whether a request has anything to do with us, told from its bytes: most have not, and go on to the
//! upstream as they are, without being read and written again.

use memchr::memmem;

/// Words without which a request can name nothing that is ours.
const WORDS: [&str; 5] =
    ["code_interpreter", "previous_response_id", "\"conversation\"", "item_reference", "\"file_id\""];

/// False only when the upstream can be given the body untouched. A word in some other place than we
/// mean costs the time to read the body, no more.
#[must_use]
pub fn may_concern_us(body: &[u8]) -> bool {
    WORDS.iter().any(|word| memmem::find(body, word.as_bytes()).is_some()) || hides_letters(body)
}

/// The same for requests that can name nothing of ours but the tool.
#[must_use]
pub fn may_name_code(body: &[u8]) -> bool {
    memmem::find(body, WORDS[0].as_bytes()).is_some() || hides_letters(body)
}

/// Letters can be written as `\u0063`. No honest client does that, but a tool that slips by unseen
/// would run in somebody else's container.
fn hides_letters(body: &[u8]) -> bool {
    memmem::find_iter(body, b"\\u00").any(|at| matches!(body.get(at + 4), Some(b'2'..=b'7')))
}

#[cfg(test)]
#[path = "peek_tests.rs"]
mod tests;

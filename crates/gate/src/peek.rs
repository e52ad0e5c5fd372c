//! Whether a request has anything to do with us, told from its bytes: most have not, and go on to the
//! upstream as they are, without being read and written again.

use memchr::memmem;

/// Words without which a request can name nothing that is ours.
const WORDS: [&str; 6] = [
    "code_interpreter",
    "previous_response_id",
    "\"conversation\"",
    "item_reference",
    "\"file_id\"",
    // Not ours, but nobody else's either.
    "\"shell\"",
];

/// False only when the upstream can be given the body untouched. A word in some other place than we
/// mean costs the time to read the body, no more.
#[must_use]
pub fn may_concern_us(body: &[u8]) -> bool {
    WORDS.iter().any(|word| memmem::find(body, word.as_bytes()).is_some())
        || has_bare_id(body)
        || hides_letters(body)
}

/// The same for requests of Chat Completions, which can name nothing of ours but the tool and files.
#[must_use]
pub fn chat_may_concern_us(body: &[u8]) -> bool {
    let words = [WORDS[0], WORDS[4]];
    words.iter().any(|word| memmem::find(body, word.as_bytes()).is_some()) || hides_letters(body)
}

/// An object that is an id and nothing else: the short form of a reference to an item. The upstream's own
/// prompts look the same but for how their ids begin.
fn has_bare_id(body: &[u8]) -> bool {
    const NAME: &[u8] = b"\"id\"";
    memmem::find_iter(body, NAME).any(|at| {
        let is_first = body[..at].trim_ascii_end().ends_with(b"{");
        let value = body[at + NAME.len()..].trim_ascii_start().strip_prefix(b":");
        let Some(text) = value.and_then(|value| value.trim_ascii_start().strip_prefix(b"\"")) else {
            return false;
        };
        let is_alone = || {
            let end = memchr::memchr(b'"', text);
            end.is_some_and(|end| text[end + 1..].trim_ascii_start().starts_with(b"}"))
        };
        is_first && !text.starts_with(b"pmpt_") && is_alone()
    })
}

/// Letters can be written as `\u0063`. No honest client does that, but a tool that slips by unseen
/// would run in somebody else's container.
fn hides_letters(body: &[u8]) -> bool {
    memmem::find_iter(body, b"\\u00").any(|at| matches!(body.get(at + 4), Some(b'2'..=b'7')))
}

#[cfg(test)]
#[path = "peek_tests.rs"]
mod tests;

//! Whether the first bytes of a connection are a request of HTTP/1, as a server would read them that forgives much:
//! what one server takes for a request names a host, and that name has to be looked at.

/// What the bytes so far are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    Request,
    Other,
    /// The beginning of either; `likely` when its word is one that requests begin with.
    Unclear {
        likely: bool,
    },
}

const METHODS: [&[u8]; 9] =
    [b"GET", b"HEAD", b"POST", b"PUT", b"DELETE", b"CONNECT", b"OPTIONS", b"TRACE", b"PATCH"];
const LONGEST_METHOD: usize = 32;
/// The beginning of HTTP/2 by prior knowledge looks like a request and is none.
const HTTP_2: &[u8] = b"PRI * HTTP/2";

pub(crate) fn read(head: &[u8]) -> Line {
    if head.starts_with(HTTP_2) {
        return Line::Other;
    }
    // Servers pass over empty lines before a request, and some over blanks.
    let blank = head.iter().take_while(|byte| is_blank(**byte) || **byte == b'\n').count();
    let head = &head[blank..];
    if head.is_empty() {
        return Line::Unclear { likely: true };
    }
    let method = head.iter().take_while(|byte| is_of_word(**byte)).count();
    let (word, rest) = head.split_at(method);
    if method == 0 || method > LONGEST_METHOD {
        return Line::Other;
    }
    let is_loud = word.iter().all(|byte| byte.is_ascii_uppercase() || b"-_".contains(byte));
    let is_known = METHODS.iter().any(|known| known.eq_ignore_ascii_case(word));
    let Some(behind) = rest.first() else {
        let begins = |known: &&[u8]| {
            known.get(..word.len()).is_some_and(|beginning| beginning.eq_ignore_ascii_case(word))
        };
        return Line::Unclear { likely: is_loud || METHODS.iter().any(begins) };
    };
    if !is_blank(*behind) {
        return Line::Other;
    }
    let Some(end) = rest.iter().position(|byte| *byte == b'\n') else {
        return Line::Unclear { likely: is_loud || is_known };
    };
    let line = &rest[..end];
    let has_version = line.windows(5).any(|part| part.eq_ignore_ascii_case(b"HTTP/"));
    // Other protocols have words and lines too. The oldest form of a request has no version, and a target.
    let is_oldest = is_known && is_loud && line.iter().any(|byte| !is_blank(*byte));
    if has_version || is_oldest { Line::Request } else { Line::Other }
}

/// What the most forgiving servers take for a space.
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | 0x0b | 0x0c | 0x1c..=0x1f | 0x85 | 0xa0)
}

/// What a method may be made of, by the standard.
fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
#[path = "request_line_tests.rs"]
mod tests;

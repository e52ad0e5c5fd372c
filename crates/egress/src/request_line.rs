//! Whether the first bytes of a connection are a request of HTTP/1, as a server would read them that forgives much:
//! what one server takes for a request names a host, and that name has to be looked at.

/// What the bytes so far are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    Request,
    /// A request in the words of a protocol that is not read here, and that some servers take for one of HTTP.
    Foreign,
    /// Something that servers may take off before they read the rest.
    Broken,
    Other,
    /// The beginning of any; `likely` when its word is one that requests begin with.
    Unclear {
        likely: bool,
    },
}

const METHODS: [&[u8]; 9] =
    [b"GET", b"HEAD", b"POST", b"PUT", b"DELETE", b"CONNECT", b"OPTIONS", b"TRACE", b"PATCH"];
/// The beginning of HTTP/2 by prior knowledge looks like a request and is none.
const HTTP_2: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// By which a proxy says for whom it speaks, in its two forms. Whatever follows would be read by nobody here.
const PROXY: [&[u8]; 2] = [b"PROXY ", b"\r\n\r\n\0\r\nQUIT\n"];
const HTTP: &[u8] = b"HTTP/";
/// Of radio and of cameras.
const FOREIGN: [&[u8]; 2] = [b"ICE/", b"RTSP/"];

pub(crate) fn read(head: &[u8]) -> Line {
    if head.starts_with(HTTP_2) {
        return Line::Other;
    }
    if PROXY.iter().any(|prefix| head.starts_with(prefix)) {
        return Line::Broken;
    }
    if HTTP_2.starts_with(head) || PROXY.iter().any(|prefix| prefix.starts_with(head)) {
        return Line::Unclear { likely: true };
    }
    // Servers pass over empty lines before a request, and some over blanks.
    let blank = head.iter().take_while(|byte| is_blank(**byte) || **byte == b'\n').count();
    let head = &head[blank..];
    if head.is_empty() {
        return Line::Unclear { likely: true };
    }
    match head.iter().position(|byte| *byte == b'\n') {
        Some(end) => whole(&head[..end]),
        None => Line::Unclear { likely: is_likely(head) },
    }
}

/// The same at the end of the connection, where some servers take what they have for a line.
pub(crate) fn read_last(head: &[u8]) -> Line {
    match read(head) {
        Line::Unclear { .. } => read(&[head, b"\n"].concat()),
        clear => clear,
    }
}

fn split(line: &[u8]) -> (&[u8], &[u8]) {
    line.split_at(line.iter().take_while(|byte| is_of_word(**byte)).count())
}

/// Other protocols have words and lines too: a request is known by its version, whatever stands before it.
fn whole(line: &[u8]) -> Line {
    let (word, rest) = split(line);
    let has_word = has_word(line);
    // Servers that do not ask for a word have the version at the end. Anywhere else, the same letters may be in the
    // messages of a protocol that is no text, or in its words.
    let last = last_word(line);
    let is_last =
        |version: &[u8]| last.get(..version.len()).is_some_and(|it| it.eq_ignore_ascii_case(version));
    if is_last(HTTP) || (has_word && rest.windows(HTTP.len()).any(|part| part.eq_ignore_ascii_case(HTTP))) {
        Line::Request
    } else if FOREIGN.into_iter().any(is_last) {
        Line::Foreign
    } else if has_word && is_oldest(word, rest) {
        Line::Request
    } else {
        Line::Other
    }
}

/// Behind a blank; empty if there is none.
fn last_word(line: &[u8]) -> &[u8] {
    let end = line.iter().rposition(|byte| !is_blank(*byte)).map_or(0, |last| last + 1);
    let begin = line[..end].iter().rposition(|byte| is_blank(*byte)).map_or(end, |blank| blank + 1);
    &line[begin..end]
}

/// Whether it begins as the standard has it: with a word and a blank.
pub(crate) fn has_word(line: &[u8]) -> bool {
    let (word, rest) = split(line);
    !word.is_empty() && rest.first().is_some_and(|byte| is_blank(*byte))
}

/// The oldest form of a request has no version. It knows one method; of others, some servers take it too, with a
/// target. NATS and SIP begin with such methods, and have other things behind them.
fn is_oldest(word: &[u8], rest: &[u8]) -> bool {
    let blanks = rest.iter().take_while(|byte| is_blank(**byte)).count();
    let target = &rest[blanks..];
    let scheme = target.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    match word {
        b"GET" => !target.is_empty(),
        _ if METHODS.contains(&word) => target.starts_with(b"/") || target[scheme..].starts_with(b"://"),
        _ => false,
    }
}

fn is_likely(head: &[u8]) -> bool {
    let (word, rest) = split(head);
    let is_loud = word.iter().all(|byte| byte.is_ascii_uppercase() || b"-_".contains(byte));
    let begins =
        |known: &&[u8]| known.get(..word.len()).is_some_and(|beginning| beginning.eq_ignore_ascii_case(word));
    match rest.first() {
        _ if word.is_empty() => false,
        Some(behind) if !is_blank(*behind) => false,
        Some(_) => is_loud || METHODS.iter().any(|known| known.eq_ignore_ascii_case(word)),
        None => is_loud || METHODS.iter().any(begins),
    }
}

/// What the most forgiving servers take for a space.
pub(crate) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | 0x0b | 0x0c | 0x1c..=0x1f | 0x85 | 0xa0)
}

/// What a method may be made of, by the standard.
fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
#[path = "request_line_tests.rs"]
mod tests;

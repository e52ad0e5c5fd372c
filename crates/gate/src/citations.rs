//! Links to files of the container in what the model wrote: `sandbox:/mnt/data/…`, found by the exact
//! range of characters, and cited where the file is really there.

use sandgate_core::{Container, SandboxPath};
use serde_json::{Value, json};

use crate::container_files::ContainerFiles;
use crate::error::Result;

const SCHEME: &str = "sandbox:";
const FOLDER: &str = "/mnt/data/";
/// Each link is looked up; a text made of links alone must not become a thousand of them.
const MOST_LINKS: usize = 100;
/// As long as a path in a sandbox can be, each of its bytes written as `%XX`.
const LONGEST_LINK: usize = 3 * 4096;

/// A place in a text where a link begins, and the places where it may end: a name can hold a bracket,
/// a dot or a space, and only the container knows where it stops.
#[derive(Debug, PartialEq, Eq)]
struct Link {
    /// In characters.
    start: usize,
    /// Longest first: its end in characters, and the path.
    readings: Vec<(usize, String)>,
}

/// The citations of a text, in its order.
pub(crate) async fn cite(text: &str, container: &Container, files: &ContainerFiles) -> Result<Vec<Value>> {
    let mut citations = Vec::new();
    for link in links(text) {
        for (end, path) in link.readings {
            // `..` in a link leads nowhere: only what is in the folder can be cited.
            let inside = SandboxPath::parse(&path).is_ok_and(|path| path.as_str().starts_with(FOLDER));
            if !inside {
                continue;
            }
            let Some(file) = files.of_path(container, &path).await? else { continue };
            let name = file.path.rsplit('/').next().unwrap_or_default();
            citations.push(citation(container, &file.id, name, link.start, end));
            break;
        }
    }
    Ok(citations)
}

/// A figure is cited at the start of the message that follows it.
pub(crate) fn cite_figure(container: &Container, file_id: &str, filename: &str) -> Value {
    citation(container, file_id, filename, 0, 0)
}

fn citation(container: &Container, file_id: &str, filename: &str, start: usize, end: usize) -> Value {
    json!({
        "type": "container_file_citation",
        "container_id": container.id().as_str(),
        "end_index": end,
        "file_id": file_id,
        "filename": filename,
        "start_index": start
    })
}

fn links(text: &str) -> Vec<Link> {
    let mut links = Vec::new();
    let opening = format!("{SCHEME}{FOLDER}");
    let mut from = 0;
    let mut characters = 0;
    while links.len() < MOST_LINKS
        && let Some(found) = text[from..].find(&opening)
    {
        let begin = from + found;
        characters += text[from..begin].chars().count();
        let in_brackets = text[..begin].ends_with('(');
        links.push(Link { start: characters, readings: readings(&text[begin..], characters, in_brackets) });
        from = begin + opening.len();
        characters += opening.chars().count();
    }
    links
}

/// How the link at the start of `rest` may be read, longest first.
fn readings(rest: &str, start: usize, in_brackets: bool) -> Vec<(usize, String)> {
    let mut readings = Vec::new();
    let mut cut = |end: usize| {
        let link = &rest[..end];
        let path = &link[SCHEME.len()..];
        if path.len() > FOLDER.len() {
            let end = start + link.chars().count();
            readings.push((end, path.to_owned()));
            let decoded = percent_decoded(path);
            if decoded != path {
                readings.push((end, decoded));
            }
        }
    };
    let stops = |c: char| matches!(c, '\n' | '\r' | '"' | '<' | '>' | '`' | '|');
    // No path is longer, and a line without end must not be read once for each of its links.
    let rest = &rest[..rest.floor_char_boundary(LONGEST_LINK)];
    let line = rest.find(stops).unwrap_or(rest.len());
    // In a Markdown link a name may hold spaces and brackets; elsewhere a space ends it.
    let whole = if in_brackets { line } else { rest[..line].find(char::is_whitespace).unwrap_or(line) };
    let ends_name =
        |c: char| matches!(c, ')' | ']' | '}' | '\'' | ' ' | ',' | ';' | ':' | '!' | '?' | '*' | '.');
    let mut ends: Vec<usize> = rest[..whole]
        .char_indices()
        .skip(SCHEME.len() + FOLDER.len())
        .filter(|(_, c)| ends_name(*c))
        .map(|(at, _)| at)
        .collect();
    if in_brackets {
        // Up to a closing bracket, or the words behind the link would be taken for its name.
        ends.retain(|at| rest[*at..].starts_with(')'));
    } else {
        ends.push(whole);
    }
    for end in ends.into_iter().rev().take(16) {
        cut(end);
    }
    readings
}

fn percent_decoded(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, after @ ..] = rest {
        let digits = after.get(..2).and_then(|pair| std::str::from_utf8(pair).ok());
        match digits.and_then(|pair| u8::from_str_radix(pair, 16).ok()) {
            Some(byte) if *first == b'%' => {
                bytes.push(byte);
                rest = &after[2..];
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
#[path = "citations_tests.rs"]
mod tests;

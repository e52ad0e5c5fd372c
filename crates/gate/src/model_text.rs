//! What the model is told of an execution: everything it said, compact, bounded, and always in the
//! same form.

use sandgate_core::{Ending, Event, FileChangeKind, Outcome, human_bytes};

use crate::outputs::plain;

/// More names than this are counted, not listed.
const MOST_FILES: usize = 30;

/// `limit`: bytes of output shown; the head and the tail are kept.
pub(crate) fn model_text(outcome: &Outcome, limit: usize) -> String {
    let mut said = String::new();
    let mut notes = Vec::new();
    for event in &outcome.outputs {
        match event {
            Event::Stdout { text } | Event::Stderr { text } => said.push_str(text),
            Event::Display { data } | Event::Result { data, .. } => {
                on_a_line_of_its_own(&mut said);
                let shown = data.keys().find(|kind| matches!(kind.as_str(), "image/png" | "image/jpeg"));
                match shown {
                    Some(_) => said.push_str("[a figure was shown to the user]"),
                    None => said.push_str(&plain(data)),
                }
                said.push('\n');
            }
            Event::Error(error) => {
                on_a_line_of_its_own(&mut said);
                said.push_str(&without_colours(&error.traceback.join("\n")));
                said.push('\n');
            }
            Event::Note { text, .. } => notes.push(text.clone()),
            Event::Started { .. } | Event::Files { .. } | Event::Done { .. } => {}
        }
    }
    let mut text = shortened(said.trim_end_matches('\n'), limit);
    if !matches!(outcome.ending, Ending::Ok | Ending::Raised) && !outcome.text.is_empty() {
        notes.push(outcome.text.clone());
    }
    notes.extend(files(outcome));
    for note in notes {
        on_a_line_of_its_own(&mut text);
        text.push_str(&format!("[{note}]\n"));
    }
    let text = text.trim_end_matches('\n');
    if text.is_empty() { "[no output]".to_owned() } else { text.to_owned() }
}

fn on_a_line_of_its_own(text: &mut String) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}

fn files(outcome: &Outcome) -> Option<String> {
    let kept: Vec<_> = outcome.files.iter().filter(|file| file.path.starts_with("/mnt/data/")).collect();
    if kept.is_empty() {
        return None;
    }
    let mut names: Vec<String> = kept
        .iter()
        .take(MOST_FILES)
        .map(|file| match file.kind {
            FileChangeKind::Created => format!("{} (new, {})", file.path, human_bytes(file.size)),
            FileChangeKind::Modified => format!("{} (changed, {})", file.path, human_bytes(file.size)),
            FileChangeKind::Removed => format!("{} (removed)", file.path),
        })
        .collect();
    if kept.len() > MOST_FILES {
        names.push(format!("and {} more", kept.len() - MOST_FILES));
    }
    Some(format!("files: {}", names.join(", ")))
}

/// Head and tail of a text that is too long, and how much is missing between them.
pub(crate) fn shortened(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    // More of the head: it says what the output is; the tail says how it ended.
    let head = floor_boundary(text, limit * 2 / 3);
    let tail = ceil_boundary(text, text.len() - limit / 3);
    let left_out = human_bytes((tail - head) as u64);
    format!("{}\n[… {left_out} of output left out here …]\n{}", &text[..head], &text[tail..])
}

fn floor_boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn ceil_boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

/// IPython colours its tracebacks for terminals.
fn without_colours(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        if character == '\u{1b}' && characters.peek() == Some(&'[') {
            characters.next();
            for parameter in characters.by_ref() {
                if ('@'..='~').contains(&parameter) {
                    break;
                }
            }
        } else {
            plain.push(character);
        }
    }
    plain
}

#[cfg(test)]
#[path = "model_text_tests.rs"]
mod tests;

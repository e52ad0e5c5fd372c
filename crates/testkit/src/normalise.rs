//! Makes two transcripts comparable: what differs from run to run becomes a stable placeholder.

use std::collections::HashMap;

use serde_json::{Value, json};

const PREFIXES: [&str; 8] = ["resp_", "rs_", "ci_", "msg_", "cntr_", "cfile_", "call_", "fc_"];

/// Ids are longer than this; a shorter word is taken as one that a test wrote by hand.
const SHORTEST_ID: usize = 16;

const PNG: &str = "data:image/png;base64,";

/// Replaces ids by `<msg_1>`, `<msg_2>`… in order of first appearance, pictures by `<png_1>`…, times by 0 and
/// obfuscation by one word. Everything else stays.
pub fn normalise(value: &mut Value) {
    Normaliser::default().apply(value);
}

/// The same over several values that share their ids.
#[derive(Debug, Default)]
pub struct Normaliser {
    names: HashMap<String, String>,
    counts: HashMap<&'static str, usize>,
}

impl Normaliser {
    pub fn apply(&mut self, value: &mut Value) {
        match value {
            Value::Array(list) => list.iter_mut().for_each(|value| self.apply(value)),
            Value::Object(map) => {
                for (name, value) in map.iter_mut() {
                    match name.as_str() {
                        "created_at" | "completed_at" if value.is_number() => *value = json!(0),
                        "obfuscation" if value.is_string() => *value = json!("<obfuscation>"),
                        _ => self.apply(value),
                    }
                }
            }
            Value::String(text) => *text = self.text(text),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn text(&mut self, text: &str) -> String {
        if let Some(picture) = text.strip_prefix(PNG) {
            return format!("{PNG}{}", self.name("png_", picture));
        }
        let mut made = String::new();
        let mut rest = text;
        while let Some((before, prefix, id)) = next_id(rest) {
            made.push_str(&rest[..before]);
            made.push_str(&self.name(prefix, &rest[before..before + id]));
            rest = &rest[before + id..];
        }
        made + rest
    }

    /// The placeholder of an id, made when it is first seen.
    fn name(&mut self, prefix: &'static str, id: &str) -> String {
        if let Some(name) = self.names.get(id) {
            return name.clone();
        }
        let count = self.counts.entry(prefix).or_insert(0);
        *count += 1;
        let name = format!("<{prefix}{count}>");
        self.names.insert(id.to_owned(), name.clone());
        name
    }
}

/// Where the first id of a text begins, its prefix, and its length with the prefix.
fn next_id(text: &str) -> Option<(usize, &'static str, usize)> {
    let in_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let found = PREFIXES.iter().flat_map(|prefix| {
        text.match_indices(prefix).filter_map(move |(start, _)| {
            let begins_a_word = !text[..start].ends_with(in_word);
            let rest = &text[start + prefix.len()..];
            let length = rest.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(rest.len());
            (begins_a_word && length >= SHORTEST_ID).then_some((start, *prefix, prefix.len() + length))
        })
    });
    found.min_by_key(|(start, _, _)| *start)
}

/// The events with deltas that follow each other joined into one, and numbered anew: for transcripts that
/// differ only in where the deltas were cut.
#[must_use]
pub fn merge_deltas(events: &[Value]) -> Vec<Value> {
    let mut merged: Vec<Value> = Vec::new();
    for event in events {
        let place = |event: &Value| {
            ["type", "item_id", "output_index", "content_index", "summary_index"]
                .map(|name| event[name].clone())
        };
        if let Some(last) = merged.last_mut()
            && let (Some(before), Some(more)) = (last["delta"].as_str(), event["delta"].as_str())
            && place(last) == place(event)
        {
            last["delta"] = json!(format!("{before}{more}"));
            continue;
        }
        merged.push(event.clone());
    }
    for (number, event) in merged.iter_mut().enumerate() {
        if event.get("sequence_number").is_some() {
            event["sequence_number"] = json!(number);
        }
    }
    merged
}

#[cfg(test)]
#[path = "normalise_tests.rs"]
mod tests;

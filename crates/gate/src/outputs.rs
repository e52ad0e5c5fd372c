//! What an execution said, as the client's `outputs`: `logs` and `image`, one for each message of the
//! kernel, in its order. A traceback is not among them: it is for the model.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sandgate_core::{Event, MimeBundle, Outcome};
use serde_json::{Value, json};

/// The outputs, and the PNG figures among them, which become files of the container.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Outputs {
    pub(crate) shown: Vec<Value>,
    pub(crate) figures: Vec<Vec<u8>>,
}

pub(crate) fn outputs(outcome: &Outcome) -> Outputs {
    let mut outputs = Outputs::default();
    for event in &outcome.outputs {
        match event {
            Event::Stdout { text } | Event::Stderr { text } => outputs.log(text),
            Event::Display { data } | Event::Result { data, .. } => outputs.rich(data),
            Event::Started { .. }
            | Event::Error(_)
            | Event::Note { .. }
            | Event::Files { .. }
            | Event::Done { .. } => {}
        }
    }
    outputs
}

impl Outputs {
    fn log(&mut self, text: &str) {
        if !text.is_empty() {
            self.shown.push(json!({"type": "logs", "logs": text}));
        }
    }

    fn rich(&mut self, data: &MimeBundle) {
        for kind in ["image/png", "image/jpeg"] {
            // What a sandbox calls base64 is looked at before it goes into a URL.
            let Some(encoded) = data.get(kind).and_then(Value::as_str) else { continue };
            let compact: String = encoded.chars().filter(|c| !c.is_ascii_whitespace()).collect();
            let Ok(bytes) = STANDARD.decode(&compact) else { continue };
            self.shown.push(json!({"type": "image", "url": format!("data:{kind};base64,{compact}")}));
            if kind == "image/png" {
                self.figures.push(bytes);
            }
            return;
        }
        self.log(&plain(data));
    }
}

/// The plainest text of a rich value.
pub(crate) fn plain(data: &MimeBundle) -> String {
    let kinds =
        ["text/plain", "text/markdown", "text/latex", "application/json", "text/html", "image/svg+xml"];
    let found = kinds.into_iter().find_map(|kind| data.get(kind));
    match found.or_else(|| data.values().next()) {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    }
}

#[cfg(test)]
#[path = "outputs_tests.rs"]
pub(crate) mod tests;

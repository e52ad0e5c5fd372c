//! Citations in a message that passes by: found when a part's text is whole, sent before its end is,
//! and written into the part and the item that follow.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::citations::cite;
use crate::error::Result;
use crate::run::Run;

/// What is known of the parts of a message so far.
#[derive(Debug, Default)]
pub(crate) struct MessageState {
    /// Citations of ours, by the part's index.
    cited: Vec<(u64, Vec<Value>)>,
    /// The upstream's own annotations, counted by part.
    foreign: Vec<(u64, u64)>,
    /// Text that was shown so far, by part.
    said: BTreeMap<u64, String>,
}

impl MessageState {
    pub(crate) fn has_text(&self) -> bool {
        self.said.values().any(|text| !text.is_empty())
    }

    /// Gives a message that was cut short the text that was shown of it.
    pub(crate) fn complete(&self, item: &mut Value) {
        if let Some(Value::Array(content)) = item.get_mut("content")
            && content.is_empty()
        {
            let part = |text: &String| json!({"type": "output_text", "annotations": [], "logprobs": [], "text": text});
            content.extend(self.said.values().map(part));
        }
    }

    fn ours(&self, part: u64) -> Option<&Vec<Value>> {
        self.cited.iter().find(|(index, _)| *index == part).map(|(_, citations)| citations)
    }

    fn count_foreign(&mut self, part: u64) {
        match self.foreign.iter_mut().find(|(index, _)| *index == part) {
            Some((_, count)) => *count += 1,
            None => self.foreign.push((part, 1)),
        }
    }

    fn foreign_in(&self, part: u64) -> u64 {
        self.foreign.iter().find(|(index, _)| *index == part).map_or(0, |(_, count)| *count)
    }
}

impl Run {
    /// Looks at an event of a shown item before it goes on.
    pub(crate) async fn message_event(
        &mut self,
        message: &mut MessageState,
        index: usize,
        id: &str,
        event: &mut Map<String, Value>,
    ) -> Result<()> {
        let part = event.get("content_index").and_then(Value::as_u64).unwrap_or(0);
        match event.get("type").and_then(Value::as_str) {
            Some("response.output_text.delta") => {
                let delta = event.get("delta").and_then(Value::as_str).unwrap_or_default();
                message.said.entry(part).or_default().push_str(delta);
                event.entry("logprobs").or_insert_with(|| json!([]));
            }
            Some("response.output_text.annotation.added") => message.count_foreign(part),
            Some("response.output_text.done") => {
                event.entry("logprobs").or_insert_with(|| json!([]));
                let text = event.get("text").and_then(Value::as_str).unwrap_or_default().to_owned();
                self.cite_part(message, index, id, part, &text).await?;
            }
            Some("response.content_part.done") => {
                if let Some(content) = event.get_mut("part") {
                    self.annotate(message, index, id, part, content).await?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Writes the citations into a whole message.
    pub(crate) async fn message_done(
        &mut self,
        message: &mut MessageState,
        index: usize,
        id: &str,
        item: &mut Value,
    ) -> Result<()> {
        if item.get("type").and_then(Value::as_str) != Some("message") {
            return Ok(());
        }
        let Some(Value::Array(parts)) = item.get_mut("content") else { return Ok(()) };
        for (part, content) in parts.iter_mut().enumerate() {
            self.annotate(message, index, id, part as u64, content).await?;
        }
        Ok(())
    }

    async fn annotate(
        &mut self,
        message: &mut MessageState,
        index: usize,
        id: &str,
        part: u64,
        content: &mut Value,
    ) -> Result<()> {
        if content.get("type").and_then(Value::as_str) != Some("output_text") {
            return Ok(());
        }
        let text = content.get("text").and_then(Value::as_str).unwrap_or_default().to_owned();
        self.cite_part(message, index, id, part, &text).await?;
        let Value::Object(fields) = content else { return Ok(()) };
        let annotations = fields.entry("annotations").or_insert_with(|| json!([]));
        if let (Value::Array(annotations), Some(ours)) = (annotations, message.ours(part)) {
            annotations.extend(ours.iter().cloned());
        }
        fields.entry("logprobs").or_insert_with(|| json!([]));
        Ok(())
    }

    /// Finds and announces the citations of one part, once.
    async fn cite_part(
        &mut self,
        message: &mut MessageState,
        index: usize,
        id: &str,
        part: u64,
        text: &str,
    ) -> Result<()> {
        if message.ours(part).is_some() {
            return Ok(());
        }
        // Figures shown since the last message are cited here, and first.
        let mut citations = std::mem::take(&mut self.figures);
        if let Some(container) = self.workplace.known() {
            citations.extend(cite(text, container, &self.gate.files).await?);
        }
        let first = message.foreign_in(part);
        for (number, annotation) in citations.iter().enumerate() {
            let fields = json!({
                "item_id": id,
                "output_index": index,
                "content_index": part,
                "annotation_index": first + number as u64,
                "annotation": annotation
            });
            self.emitter.emit("response.output_text.annotation.added", fields).await?;
        }
        message.cited.push((part, citations));
        Ok(())
    }
}

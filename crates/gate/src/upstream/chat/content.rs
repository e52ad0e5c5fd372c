//! What a message or a tool's output holds, as Chat Completions writes it.

use serde_json::{Value, json};

use super::UpstreamError;
use super::request::refused;

/// A message's content: a string where it is text alone, since every server takes that.
pub(super) fn content(content: &Value, param: &str) -> Result<Value, UpstreamError> {
    let Value::Array(parts) = content else {
        return Ok(content.as_str().unwrap_or_default().into());
    };
    let mut written = Vec::with_capacity(parts.len());
    for (index, item) in parts.iter().enumerate() {
        written.push(part(item, &format!("{param}[{index}]"))?);
    }
    if written.iter().all(|part| part["type"] == "text") {
        return Ok(joined(&written).into());
    }
    Ok(written.into())
}

/// The text of a tool's output, and what its message cannot carry: the API allows text alone there.
pub(super) fn output(output: &Value, param: &str) -> Result<(String, Vec<Value>), UpstreamError> {
    match content(output, param)? {
        Value::String(text) => Ok((text, Vec::new())),
        Value::Array(parts) => {
            let (texts, others): (Vec<Value>, Vec<Value>) =
                parts.into_iter().partition(|part| part["type"] == "text");
            let mut text = joined(&texts);
            if text.is_empty() {
                "The output is in the next message.".clone_into(&mut text);
            }
            Ok((text, others))
        }
        _ => Ok((String::new(), Vec::new())),
    }
}

/// The plain text of an assistant's message, and the refusal in it.
pub(super) fn spoken(content: &Value) -> (String, String) {
    let Value::Array(parts) = content else {
        return (content.as_str().unwrap_or_default().to_owned(), String::new());
    };
    let all = |name: &str| parts.iter().filter_map(|part| part[name].as_str()).collect::<Vec<_>>().join("\n");
    (all("text"), all("refusal"))
}

fn part(part: &Value, param: &str) -> Result<Value, UpstreamError> {
    match part["type"].as_str() {
        Some("input_text" | "output_text" | "text") => Ok(json!({"type": "text", "text": part["text"]})),
        Some("input_image") => {
            let Some(url) = part["image_url"].as_str() else {
                return Err(refused("An image must be given by its URL or its data.", param));
            };
            let mut image = json!({"url": url});
            match part["detail"].as_str() {
                Some(detail @ ("auto" | "low" | "high")) => image["detail"] = detail.into(),
                Some(_) => image["detail"] = "high".into(),
                None => {}
            }
            Ok(json!({"type": "image_url", "image_url": image}))
        }
        Some("input_file") => {
            let mut file = json!({});
            for name in ["filename", "file_data", "file_id"] {
                if let Some(text) = part[name].as_str() {
                    file[name] = text.into();
                }
            }
            if file.get("file_data").is_none() && file.get("file_id").is_none() {
                return Err(refused("A file must be given by its data.", param));
            }
            Ok(json!({"type": "file", "file": file}))
        }
        Some("input_audio") => Ok(part.clone()),
        kind => {
            let kind = kind.unwrap_or_default();
            Err(refused(&format!("Content of type '{kind}' cannot be passed on."), &format!("{param}.type")))
        }
    }
}

fn joined(parts: &[Value]) -> String {
    parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n")
}

//! How messages are written: as JSON or as protobuf. Fields nobody knows are passed over in both.

use axum::http::HeaderMap;
use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::super::refusal::{Kind, Refusal};

/// Fields that are null, and mean nothing, are only looked for in messages up to this size.
const LARGEST_WITH_NULLS: usize = 64 << 10;

/// A message that comes in.
pub(crate) trait Ask: prost::Message + Default + DeserializeOwned {}
impl<T: prost::Message + Default + DeserializeOwned> Ask for T {}

/// A message that goes out.
pub(crate) trait Tell: prost::Message + Serialize + Send + 'static {}
impl<T: prost::Message + Serialize + Send + 'static> Tell for T {}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Codec {
    Json,
    Proto,
}

impl Codec {
    pub(super) fn of_one(headers: &HeaderMap) -> Result<Self, Refusal> {
        not_packed(headers, CONTENT_ENCODING.as_str())?;
        Self::declared(headers, "application/json", "application/proto")
    }

    pub(super) fn of_stream(headers: &HeaderMap) -> Result<Self, Refusal> {
        not_packed(headers, "connect-content-encoding")?;
        Self::declared(headers, "application/connect+json", "application/connect+proto")
    }

    fn declared(headers: &HeaderMap, json: &str, proto: &str) -> Result<Self, Refusal> {
        let declared = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        match declared.split(';').next().unwrap_or_default().trim() {
            kind if kind.eq_ignore_ascii_case(json) => Ok(Self::Json),
            kind if kind.eq_ignore_ascii_case(proto) => Ok(Self::Proto),
            _ => Err(Refusal::new(
                Kind::Unsupported,
                format!("send the body with the header 'content-type: {json}' or '{proto}'"),
            )),
        }
    }

    pub(super) fn kind_of_one(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Proto => "application/proto",
        }
    }

    pub(super) fn kind_of_stream(self) -> &'static str {
        match self {
            Self::Json => "application/connect+json",
            Self::Proto => "application/connect+proto",
        }
    }

    pub(super) fn read<M: Ask>(self, message: &[u8]) -> Result<M, Refusal> {
        match self {
            Self::Json => {
                // An empty body stands for an empty message in some clients.
                let text = if message.trim_ascii().is_empty() { b"{}" } else { message };
                // As an object: a list would be taken for the fields in their order.
                let is_object = text.trim_ascii_start().starts_with(b"{");
                let read = match serde_json::from_slice(text) {
                    Ok(read) if is_object => Ok(read),
                    // Held as a tree a message takes many times its size.
                    Err(error) if is_object && text.len() > LARGEST_WITH_NULLS => Err(error),
                    Ok(_) | Err(_) => {
                        let fields = serde_json::from_slice(text).map(Value::Object).map(without_nulls);
                        fields.and_then(serde_json::from_value)
                    }
                };
                read.map_err(|error| Refusal::invalid(format!("the message cannot be read: {error}")))
            }
            Self::Proto => M::decode(message)
                .map_err(|error| Refusal::invalid(format!("the message cannot be read: {error}"))),
        }
    }

    pub(super) fn write<M: Tell>(self, message: &M) -> Result<Bytes, Refusal> {
        match self {
            Self::Json => serde_json::to_vec(message).map(Bytes::from).map_err(|error| {
                Refusal::new(Kind::Internal, format!("the answer cannot be written: {error}"))
            }),
            Self::Proto => Ok(message.encode_to_vec().into()),
        }
    }
}

/// A field that is null is one that is not there.
fn without_nulls(mut value: Value) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.retain(|_, field| !field.is_null());
                fields.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    strip(&mut value);
    value
}

fn not_packed(headers: &HeaderMap, name: &str) -> Result<(), Refusal> {
    match headers.get(name).map(|value| value.to_str().unwrap_or("?").trim()) {
        None | Some("" | "identity") => Ok(()),
        Some(other) => {
            let message = format!("unknown compression '{other}': supported encodings are identity");
            Err(Refusal::new(Kind::Unsupported, message))
        }
    }
}

#[cfg(test)]
#[path = "codec_tests.rs"]
mod tests;

//! A completion that came in one piece, as the one chunk of a stream.

use serde_json::Value;

use super::UpstreamError;
use crate::upstream::compose::Object;

pub(super) fn as_chunk(mut completion: Object) -> Result<Object, UpstreamError> {
    let choices = completion.get_mut("choices").and_then(Value::as_array_mut);
    let choice = choices.and_then(|choices| choices.first_mut()).and_then(Value::as_object_mut);
    let Some(choice) = choice else {
        return Err(UpstreamError::Broken("it is JSON, but not a completion".to_owned()));
    };
    let mut message = choice.shift_remove("message").unwrap_or_default();
    let calls = message.get_mut("tool_calls").and_then(Value::as_array_mut);
    for (index, call) in calls.into_iter().flatten().filter_map(Value::as_object_mut).enumerate() {
        call.insert("index".to_owned(), index.into());
    }
    choice.insert("delta".to_owned(), message);
    Ok(completion)
}

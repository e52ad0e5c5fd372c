//! What tests look for in answers, and a short way to write a turn.

use sandgate_testkit::Turn;
use serde_json::Value;

use super::{Answer, Client};

pub(crate) const OUTPUTS: &str = "code_interpreter_call.outputs";

/// A turn with everything a script can say.
pub(crate) fn turn(value: Value) -> Turn {
    serde_json::from_value(value).expect("a turn")
}

pub(crate) fn kinds(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().expect("a type")).collect()
}

/// The items of this type in a response.
pub(crate) fn items<'a>(response: &'a Value, kind: &str) -> Vec<&'a Value> {
    response["output"].as_array().expect("an output").iter().filter(|item| item["type"] == kind).collect()
}

#[track_caller]
pub(crate) fn container_of(response: &Value) -> String {
    let calls = items(response, "code_interpreter_call");
    calls.first().expect("a code call")["container_id"].as_str().expect("a container").to_owned()
}

/// What the first code call of a response printed.
#[track_caller]
pub(crate) fn logs(response: &Value) -> String {
    let outputs = response["output"][0]["outputs"].as_array().expect("outputs");
    outputs.iter().filter_map(|output| output["logs"].as_str()).collect()
}

/// What the model was told by the last call before this turn.
#[track_caller]
pub(crate) fn told(body: &Value) -> &str {
    let outputs = body["input"].as_array().expect("an input").iter().rev();
    outputs.filter_map(|item| item["output"].as_str()).next().expect("an output of a call")
}

/// Nothing in what a client got tells of the function that stands in for the tool.
#[track_caller]
pub(crate) fn no_internal_call(answer: &Answer) {
    let text = answer.text();
    for word in ["\"python\"", "function_call", "sandgate"] {
        assert!(!text.contains(word), "{word} in {text}");
    }
}

/// The message of a stream that ends as a failed one does: `error` in the nested form, then
/// `response.failed`.
#[track_caller]
pub(crate) fn failure_of(events: &[Value]) -> String {
    let [.., error, failed] = events else { panic!("too short: {events:?}") };
    assert_eq!(kinds(events)[..2], ["response.created", "response.in_progress"]);
    assert_eq!(error["type"], "error", "{error}");
    for key in ["type", "code", "message", "param"] {
        assert!(error["error"].get(key).is_some(), "no '{key}': {error}");
    }
    assert_eq!(failed["type"], "response.failed", "{failed}");
    assert_eq!(failed["response"]["status"], "failed");
    assert_eq!(failed["response"]["error"]["message"], error["error"]["message"]);
    error["error"]["message"].as_str().expect("words").to_owned()
}

impl Client {
    /// The same request streamed, with the bytes of the answer.
    pub(crate) fn create_stream(&self, mut fields: Value) -> Answer {
        fields["stream"] = true.into();
        self.create(fields)
    }
}

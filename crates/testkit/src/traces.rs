//! The reference traces: what a code call looks like on the wire, event for event.

use serde_json::Value;

use crate::sse::{FramingError, read_events};

/// A request, its response, and the same response as a stream.
#[derive(Clone, Copy, Debug)]
pub struct Trace {
    pub name: &'static str,
    request: &'static str,
    response: &'static str,
    stream: &'static str,
}

macro_rules! trace {
    ($name:literal) => {
        Trace {
            name: $name,
            request: include_str!(concat!("../traces/", $name, ".request.json")),
            response: include_str!(concat!("../traces/", $name, ".response.json")),
            stream: include_str!(concat!("../traces/", $name, ".sse")),
        }
    };
}

pub const TRACES: [Trace; 6] = [
    trace!("1_one_call"),
    trace!("1b_one_call_without_include"),
    trace!("2_two_calls"),
    trace!("3_call_that_errors"),
    trace!("4_image_output"),
    trace!("5_file_output_with_citation"),
];

impl Trace {
    /// The trace of this name, such as `1_one_call`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        TRACES.into_iter().find(|trace| trace.name == name)
    }

    pub fn request(&self) -> Result<Value, serde_json::Error> {
        serde_json::from_str(self.request)
    }

    pub fn response(&self) -> Result<Value, serde_json::Error> {
        serde_json::from_str(self.response)
    }

    pub fn events(&self) -> Result<Vec<Value>, FramingError> {
        read_events(self.stream.as_bytes())
    }
}

//! The whole answer of an execution that was not streamed.

use sandgate_core::{ContainerId, Outcome};
use serde::Serialize;

#[derive(Debug, Serialize)]
pub(super) struct Answer<'a> {
    /// Where it ran; name it in the next request to go on with the same variables and files.
    pub(super) container: &'a ContainerId,
    #[serde(flatten)]
    pub(super) outcome: Outcome,
}

//! What the user gave cannot be used: the exit code is 2, as for a wrong option.

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct BadInput(pub(crate) String);

impl BadInput {
    pub(crate) fn error(message: impl Into<String>) -> anyhow::Error {
        Self(message.into()).into()
    }
}

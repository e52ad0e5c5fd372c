//! Files as programs in the sandbox see them.

pub(crate) mod entry;
pub(crate) mod read;
pub(crate) mod tree;
pub(crate) mod write;

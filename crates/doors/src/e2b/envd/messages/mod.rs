//! The messages of envd's two services, field by field as its clients number them, for both codecs: protobuf
//! by `prost`, JSON by `serde`.

pub(super) mod filesystem;
pub(super) mod json;
pub(super) mod process;
pub(super) mod timestamp;

#[cfg(test)]
mod tests;

//! A sandbox's files from outside. Every path is resolved by the kernel inside the volume's own root, so
//! that no link, name or race leads out of it.

mod attributes;
pub(crate) mod copy;
mod copy_file;
mod held;
mod inside;
mod names;
mod open;
pub(crate) mod remove;
mod tree;
mod volume_files;
pub(crate) mod walk;

pub(crate) use attributes::check_attributes;
pub(crate) use volume_files::VolumeFiles;

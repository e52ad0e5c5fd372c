//! The drivers of other languages and what pins their parts, carried in the program.

use std::fs;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::{Edition, Tool};
use crate::runtime::RuntimeError;

type Files = &'static [(&'static str, &'static [u8])];

const GO: Files = include!(concat!(env!("OUT_DIR"), "/go_files.rs"));
const JAVA: Files = include!(concat!(env!("OUT_DIR"), "/java_files.rs"));
const NODE: Files = include!(concat!(env!("OUT_DIR"), "/node_files.rs"));
/// What a Node.js needs that cannot read TypeScript.
const NODE_TYPES: Files = include!(concat!(env!("OUT_DIR"), "/node_types_files.rs"));
const R: Files = include!(concat!(env!("OUT_DIR"), "/r_files.rs"));

fn files(tool: Tool) -> Files {
    match tool {
        Tool::Go => GO,
        Tool::Java => JAVA,
        Tool::Node => NODE,
        Tool::R => R,
    }
}

/// Lays them out in `folder`, which it makes.
pub(super) fn unpack(tool: Tool, folder: &Path) -> Result<(), RuntimeError> {
    lay_out(files(tool), folder)
}

pub(super) fn unpack_types(folder: &Path) -> Result<(), RuntimeError> {
    lay_out(NODE_TYPES, folder)
}

fn lay_out(files: Files, folder: &Path) -> Result<(), RuntimeError> {
    for (name, bytes) in files {
        let path = folder.join(name);
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent).map_err(RuntimeError::file("create", parent))?;
        fs::write(&path, bytes).map_err(RuntimeError::file("write", &path))?;
    }
    Ok(())
}

/// Raised when a runtime is laid out differently.
const FORMAT: u32 = 1;

/// Tells runtimes apart that were made by different versions of this program.
pub(super) fn digest(edition: Edition) -> String {
    let mut hash = Sha256::new();
    hash.update(FORMAT.to_le_bytes());
    let chosen = files(edition.tool).iter().copied();
    // The chosen one's lock is among its files.
    let types = if edition.tool == Tool::Node { NODE_TYPES } else { &[] };
    let named = edition.lock().into_iter().map(|lock| ("", lock.as_bytes()));
    let named = named.chain(types.iter().copied()).filter(|_| edition.line().is_some());
    for (name, bytes) in chosen.chain(named) {
        for part in [name.as_bytes(), bytes] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
    }
    hash.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}

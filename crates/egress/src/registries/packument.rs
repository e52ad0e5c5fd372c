//! What npm is told about a package, with its files at the front.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::hash::Hash;
use super::urls::join;

/// A file's hash, and where the registry has it.
type File = (Hash, String);

/// The document with other addresses, and which file each hash is. Versions without a strong hash are left out.
pub(super) fn rewrite(page: &[u8], from: &str, front: &str) -> Option<(Vec<u8>, Vec<File>)> {
    let mut document: Value = serde_json::from_slice(page).ok()?;
    let versions = document.get_mut("versions")?.as_object_mut()?;
    let mut files = Vec::new();
    versions.retain(|_, version| match moved(version, from, front) {
        Some(file) => {
            files.push(file);
            true
        }
        None => false,
    });
    Some((serde_json::to_vec(&document).ok()?, files))
}

fn moved(version: &mut Value, from: &str, front: &str) -> Option<File> {
    let dist = version.get_mut("dist")?;
    let integrity = dist.get("integrity")?.as_str()?;
    let encoded = integrity.split_whitespace().find_map(|part| part.strip_prefix("sha512-"))?;
    let hash = Hash::Sha512(STANDARD.decode(encoded).ok()?.try_into().ok()?);
    let url = join(from, dist.get("tarball")?.as_str()?)?;
    let name: String = url
        .rsplit('/')
        .next()?
        .chars()
        .filter(|letter| letter.is_ascii_alphanumeric() || "-_.".contains(*letter))
        .collect();
    dist["tarball"] = format!("http://{front}/npm/-/files/{hash}/{name}").into();
    Some((hash, url))
}

#[cfg(test)]
#[path = "packument_tests.rs"]
mod tests;

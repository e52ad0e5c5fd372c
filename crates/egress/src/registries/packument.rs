//! What npm is told about a package, with its files at the front.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::hash::Hash;
use super::urls::join;

/// The document with other addresses. Versions without a strong hash are left out.
pub(super) fn rewrite(page: &[u8], from: &str, package: &str, front: &str) -> Option<Vec<u8>> {
    let mut document: Value = serde_json::from_slice(page).ok()?;
    let versions = document.get_mut("versions")?.as_object_mut()?;
    versions.retain(|number, version| moved(version, number, from, package, front).is_some());
    serde_json::to_vec(&document).ok()
}

/// Where the registry has the file of this hash.
pub(super) fn find(page: &[u8], from: &str, hash: Hash) -> Option<String> {
    let document: Value = serde_json::from_slice(page).ok()?;
    let mut files = document.get("versions")?.as_object()?.values().filter_map(|version| file(version, from));
    files.find(|(found, _)| *found == hash).map(|(_, url)| url)
}

/// The hash of the file of this name, and where the registry has it: by the name that every registry gives to the file
/// of a version, or by the last part of its own address.
pub(super) fn named(page: &[u8], from: &str, package: &str, name: &str) -> Option<(Hash, String)> {
    let document: Value = serde_json::from_slice(page).ok()?;
    let versions = document.get("versions")?.as_object()?;
    let usual = versions.iter().find(|(number, _)| tarball(package, number) == name);
    if let Some((_, version)) = usual {
        return file(version, from);
    }
    let mut others = versions.values().filter_map(|version| file(version, from));
    others.find(|(_, url)| url.split('?').next().and_then(|url| url.rsplit('/').next()) == Some(name))
}

fn tarball(package: &str, version: &str) -> String {
    let name = package.rsplit('/').next().unwrap_or(package);
    format!("{name}-{version}.tgz")
}

/// The hash of a version's file, and where it is.
fn file(version: &Value, from: &str) -> Option<(Hash, String)> {
    let dist = version.get("dist")?;
    let integrity = dist.get("integrity")?.as_str()?;
    let encoded = integrity.split_whitespace().find_map(|part| part.strip_prefix("sha512-"))?;
    let hash = Hash::Sha512(STANDARD.decode(encoded).ok()?.try_into().ok()?);
    Some((hash, join(from, dist.get("tarball")?.as_str()?)?))
}

/// Under its usual address: what is not, programs write down where they are and cannot use elsewhere.
fn moved(version: &mut Value, number: &str, from: &str, package: &str, front: &str) -> Option<()> {
    file(version, from)?;
    if !number.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.+~".contains(&byte)) {
        return None;
    }
    let name = tarball(package, number);
    version["dist"]["tarball"] = format!("http://{front}/npm/{package}/-/{name}").into();
    Some(())
}

#[cfg(test)]
#[path = "packument_tests.rs"]
mod tests;

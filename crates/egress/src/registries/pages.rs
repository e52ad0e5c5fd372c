//! Pages of Python projects (PEP 503): read for the files they name, written anew with those files at the front.

use super::attributes::{Attributes, end_of_tag};
use super::hash::Hash;
use super::urls::join;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) name: String,
    pub(super) url: String,
    pub(super) hash: Hash,
    /// Of what the file says of itself, where the registry has that apart from it (PEP 658).
    pub(super) metadata: Option<Hash>,
    /// As the page had them, still escaped.
    pub(super) requires_python: Option<String>,
    pub(super) yanked: Option<String>,
}

impl Link {
    /// Where the registry has what the file says of itself.
    pub(super) fn metadata_url(&self) -> String {
        let (path, query) = self.url.split_at(self.url.find('?').unwrap_or(self.url.len()));
        format!("{path}.metadata{query}")
    }
}

/// Every file with a hash, one after the other: some projects have very many. Those without one could not be kept
/// apart from others, and are left out.
pub(super) fn read(page: &str, from: &str) -> impl Iterator<Item = Link> {
    page.split("<a ").skip(1).filter_map(move |anchor| link(&anchor[..end_of_tag(anchor)?], from))
}

/// The file of this hash.
pub(super) fn find(page: &[u8], from: &str, hash: Hash) -> Option<Link> {
    read(&String::from_utf8_lossy(page), from).find(|link| link.hash == hash)
}

fn link(tag: &str, from: &str) -> Option<Link> {
    let (mut href, mut metadata, mut requires_python, mut yanked) = (None, None, None, None);
    for (name, value) in Attributes::of(tag) {
        match name.to_ascii_lowercase().as_str() {
            "href" => href = Some(value.replace("&amp;", "&")),
            // Under its first name, and under the one it has now.
            "data-dist-info-metadata" | "data-core-metadata" => {
                metadata = value.strip_prefix("sha256=").and_then(Hash::sha256).or(metadata);
            }
            "data-requires-python" => requires_python = Some(value.to_owned()),
            "data-yanked" => yanked = Some(value.to_owned()),
            _ => {}
        }
    }
    let href = href?;
    let (path, fragment) = href.split_once('#')?;
    let digest = fragment.split('&').find_map(|part| part.strip_prefix("sha256="))?;
    let url = join(from, path)?;
    let name = url.split(['?']).next()?.rsplit('/').next()?.to_owned();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.+!%~".contains(&byte);
    if name.is_empty() || !name.bytes().all(plain) {
        return None;
    }
    Some(Link { name, url, hash: Hash::sha256(digest)?, metadata, requires_python, yanked })
}

/// The page of a project as it is here.
pub(super) fn rewrite(page: &[u8], from: &str, project: &str) -> String {
    let mut written = format!(
        "<!DOCTYPE html>\n<html><head><meta name=\"pypi:repository-version\" content=\"1.0\"><title>{project}</title></head><body>\n"
    );
    for link in read(&String::from_utf8_lossy(page), from) {
        write(&mut written, project, &link);
    }
    written.push_str("</body></html>\n");
    written
}

fn write(page: &mut String, project: &str, link: &Link) {
    let Link { name, hash, .. } = link;
    page.push_str(&format!("<a href=\"/pip/files/{project}/{hash}/{name}#sha256={}\"", hash.hex()));
    for (attribute, value) in [("requires-python", &link.requires_python), ("yanked", &link.yanked)] {
        if let Some(value) = value {
            // What was not escaped in quotes of another kind, or need not be, is so here.
            let value = value.replace('"', "&quot;").replace('<', "&lt;").replace('>', "&gt;");
            page.push_str(&format!(" data-{attribute}=\"{value}\""));
        }
    }
    if let Some(hash) = &link.metadata {
        let hash = hash.hex();
        page.push_str(&format!(
            " data-dist-info-metadata=\"sha256={hash}\" data-core-metadata=\"sha256={hash}\""
        ));
    }
    page.push_str(&format!(">{name}</a><br>\n"));
}

#[cfg(test)]
#[path = "pages_tests.rs"]
mod tests;

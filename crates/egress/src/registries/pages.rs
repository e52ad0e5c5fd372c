//! Pages of Python projects (PEP 503): read for the files they name, written anew with those files at the front.

use super::hash::Hash;
use super::urls::join;

/// Files of one project.
const MOST_LINKS: usize = 20_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) name: String,
    pub(super) url: String,
    pub(super) hash: Hash,
    /// As the page had them, still escaped.
    pub(super) requires_python: Option<String>,
    pub(super) yanked: Option<String>,
}

/// All files with a hash. Those without one could not be kept apart from others, and are left out.
pub(super) fn read(page: &[u8], from: &str) -> Vec<Link> {
    let page = String::from_utf8_lossy(page);
    let anchors = page.split("<a ").skip(1).take(MOST_LINKS);
    anchors.filter_map(|anchor| link(&anchor[..end_of_tag(anchor)?], from)).collect()
}

/// Where a tag ends: a `>` in quotes is part of a value.
fn end_of_tag(text: &str) -> Option<usize> {
    let mut quote = None;
    text.bytes().position(|byte| {
        match (quote, byte) {
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            _ => {}
        }
        quote.is_none() && byte == b'>'
    })
}

fn link(attributes: &str, from: &str) -> Option<Link> {
    let href = attribute(attributes, "href")?.replace("&amp;", "&");
    let (path, fragment) = href.split_once('#')?;
    let digest = fragment.split('&').find_map(|part| part.strip_prefix("sha256="))?;
    let url = join(from, path)?;
    let name = url.split(['?']).next()?.rsplit('/').next()?.to_owned();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.+!%~".contains(&byte);
    if name.is_empty() || !name.bytes().all(plain) {
        return None;
    }
    Some(Link {
        name,
        url,
        hash: Hash::sha256(digest)?,
        requires_python: attribute(attributes, "data-requires-python").map(ToOwned::to_owned),
        yanked: attribute(attributes, "data-yanked").map(ToOwned::to_owned),
    })
}

/// The value of `name="…"`.
fn attribute<'a>(attributes: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = attributes;
    while let Some(at) = rest.find(name) {
        let begins = at == 0 || rest.as_bytes()[at - 1].is_ascii_whitespace();
        rest = &rest[at + name.len()..];
        let Some(value) = rest.strip_prefix('=').filter(|_| begins) else { continue };
        let quote = value.chars().next().filter(|first| matches!(first, '"' | '\''))?;
        return value[1..].split(quote).next();
    }
    None
}

pub(super) fn write(project: &str, links: &[Link]) -> String {
    let mut page = format!(
        "<!DOCTYPE html>\n<html><head><meta name=\"pypi:repository-version\" content=\"1.0\"><title>{project}</title></head><body>\n"
    );
    for link in links {
        let Link { name, hash, .. } = link;
        page.push_str(&format!("<a href=\"/pip/files/{project}/{hash}/{name}#sha256={}\"", hash.hex()));
        let more = [("requires-python", &link.requires_python), ("yanked", &link.yanked)];
        for (attribute, value) in more {
            // Both quotes are escaped in a value that came in one of them, or should be.
            if let Some(value) = value.as_ref().filter(|value| !value.contains(['"', '<', '>'])) {
                page.push_str(&format!(" data-{attribute}=\"{value}\""));
            }
        }
        page.push_str(&format!(">{name}</a><br>\n"));
    }
    page.push_str("</body></html>\n");
    page
}

#[cfg(test)]
#[path = "pages_tests.rs"]
mod tests;

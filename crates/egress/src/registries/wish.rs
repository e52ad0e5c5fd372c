//! What can be asked of the front, as the paths of requests say it.

use super::hash::Hash;

/// Whose pages name files by their hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pages {
    Pip,
    Npm,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    /// What there is of a package.
    Page(Pages, String),
    /// A file that the page of a package names. The package is in the path, so that nothing has to be remembered of
    /// who asked for which page.
    File {
        pages: Pages,
        of: String,
        hash: Hash,
    },
    Go(String),
}

impl Wish {
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Page(Pages::Pip, _) | Self::File { pages: Pages::Pip, .. } => "pip",
            Self::Page(Pages::Npm, _) | Self::File { pages: Pages::Npm, .. } => "npm",
            Self::Go(_) => "go",
        }
    }

    /// Only names that can be in a path of a registry pass; nothing that leads out of it.
    pub(super) fn read(path: &str) -> Option<Self> {
        if let Some(project) = path.strip_prefix("/pip/simple/") {
            return page(Pages::Pip, project.trim_end_matches('/'));
        }
        if let Some(file) = path.strip_prefix("/pip/files/") {
            return file_of(Pages::Pip, file);
        }
        if let Some(file) = path.strip_prefix("/npm/-/files/") {
            return file_of(Pages::Npm, file);
        }
        if let Some(package) = path.strip_prefix("/npm/") {
            return page(Pages::Npm, package);
        }
        let module = path.strip_prefix("/go/")?;
        let is_one = module.contains("/@v/") || module.ends_with("/@latest") || module.starts_with("sumdb/");
        (is_one && is_plain(module, "@/!+~")).then(|| Self::Go(module.to_owned()))
    }
}

fn page(pages: Pages, name: &str) -> Option<Wish> {
    package(pages, name).map(|name| Wish::Page(pages, name))
}

/// `package/hash/name`; the last part is for programs that go by it.
fn file_of(pages: Pages, path: &str) -> Option<Wish> {
    let mut parts = path.rsplitn(3, '/').skip(1);
    let hash = Hash::read(parts.next()?)?;
    Some(Wish::File { pages, of: package(pages, parts.next()?)?, hash })
}

fn package(pages: Pages, name: &str) -> Option<String> {
    match pages {
        Pages::Pip => is_plain(name, "").then(|| name.to_owned()),
        Pages::Npm => {
            // Programs write the slash of a name with a scope in either way. No other code is a name's.
            let name = name.replace("%2f", "/").replace("%2F", "/");
            is_plain(&name, "@/").then_some(name)
        }
    }
}

fn is_plain(text: &str, more: &str) -> bool {
    let fits =
        |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte) || more.as_bytes().contains(&byte);
    !text.is_empty()
        && text.len() <= 512
        && text.bytes().all(fits)
        && !text.split('/').any(|part| part.starts_with(".."))
}

#[cfg(test)]
#[path = "wish_tests.rs"]
mod tests;

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
    /// What a file of Python says about itself (PEP 658), which installers read before they fetch it.
    Metadata {
        of: String,
        hash: Hash,
    },
    /// A file of npm under the address that every registry has it at, as lock files name it.
    Tarball {
        of: String,
        file: String,
    },
    Go(String),
}

impl Wish {
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Page(Pages::Pip, _) | Self::File { pages: Pages::Pip, .. } | Self::Metadata { .. } => "pip",
            Self::Page(Pages::Npm, _) | Self::File { pages: Pages::Npm, .. } | Self::Tarball { .. } => "npm",
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
        if let Some(path) = path.strip_prefix("/npm/") {
            return match path.split_once("/-/") {
                Some((package, file)) => tarball(package, file),
                None => page(Pages::Npm, path),
            };
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
    let mut parts = path.rsplitn(3, '/');
    let (name, hash) = (parts.next()?, Hash::read(parts.next()?)?);
    let of = package(pages, parts.next()?)?;
    Some(match pages {
        Pages::Pip if name.ends_with(".metadata") => Wish::Metadata { of, hash },
        Pages::Pip | Pages::Npm => Wish::File { pages, of, hash },
    })
}

fn tarball(of: &str, file: &str) -> Option<Wish> {
    let file = file.replace("%2b", "+").replace("%2B", "+");
    let is_file = file.ends_with(".tgz") && is_plain(&file, "+~");
    Some(Wish::Tarball { of: package(Pages::Npm, of)?, file }).filter(|_| is_file)
}

fn package(pages: Pages, name: &str) -> Option<String> {
    match pages {
        Pages::Pip => is_plain(name, "").then(|| name.to_owned()),
        Pages::Npm => {
            // Programs write the slash of a name with a scope in either way. No other code is a name's.
            let name = name.replace("%2f", "/").replace("%2F", "/");
            let has_scope = name.starts_with('@');
            let is_name = is_plain(&name, "@/") && name.split('/').count() == 1 + usize::from(has_scope);
            is_name.then_some(name)
        }
    }
}

fn is_plain(text: &str, more: &str) -> bool {
    let fits =
        |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte) || more.as_bytes().contains(&byte);
    !text.is_empty()
        && text.len() <= 512
        && text.bytes().all(fits)
        // A server may read a path with an empty part, or with one that stays where it is, as another path.
        && !text.split('/').any(|part| part.is_empty() || part == "." || part.starts_with(".."))
}

#[cfg(test)]
#[path = "wish_tests.rs"]
mod tests;

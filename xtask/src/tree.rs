//! The work tree before and after: tests must leave nothing in it.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::process::Command;

/// What differs from the last commit, by path, with a hash of each file as it is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Changes(BTreeMap<String, u64>);

impl Changes {
    /// None: this is no Git work tree, or Git is missing.
    pub(crate) fn now(root: &Path) -> Option<Self> {
        let mut git = Command::new("git");
        git.args(["status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all"])
            .current_dir(root);
        let output = git.output().ok().filter(|output| output.status.success())?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        // Each entry: two letters, a space, the path.
        let paths = text.split('\0').filter_map(|entry| entry.get(3..)).filter(|path| !path.is_empty());
        Some(Self(paths.map(|path| (path.to_owned(), hash(&root.join(path)))).collect()))
    }

    /// The paths that are new, changed or gone since `before`.
    pub(crate) fn since(&self, before: &Self) -> Vec<String> {
        let all = self.0.keys().chain(before.0.keys().filter(|path| !self.0.contains_key(*path)));
        all.filter(|path| self.0.get(*path) != before.0.get(*path)).cloned().collect()
    }
}

/// A file that cannot be read, as one that was removed, has a value of its own.
fn hash(path: &Path) -> u64 {
    let mut hasher = DefaultHasher::new();
    std::fs::read(path).ok().hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
#[path = "tree_tests.rs"]
mod tests;

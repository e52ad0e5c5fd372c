//! Which plain files there are below `/mnt/data`, however many code has put there.

use std::collections::{BTreeMap, VecDeque};

use sandgate_core::{BackendError, FileKind, FileStat, Files, Result, SandboxPath};

/// So many files are listed, those nearest to the top first; what is beyond stays where it is and
/// can still be cited.
pub(crate) const MOST_LISTED: usize = 10_000;
/// Deeper than any path can be.
const ALL_THE_WAY: u32 = 4096;

/// By path.
pub(crate) async fn plain_files(files: &dyn Files) -> Result<BTreeMap<String, FileStat>> {
    let top = SandboxPath::parse(SandboxPath::WORKING_DIR)?;
    match files.list(&top, ALL_THE_WAY).await {
        Ok(all) => {
            let plain = all.into_iter().filter(|stat| stat.kind == FileKind::File);
            Ok(plain.take(MOST_LISTED).map(|stat| (stat.path.clone(), stat)).collect())
        }
        // Too much for one answer.
        Err(BackendError::File { .. }) => folder_by_folder(files, top).await,
        Err(error) => Err(error),
    }
}

/// Until there are enough. A folder that is too much by itself is left out: none of its files would
/// be more worth listing than another.
async fn folder_by_folder(files: &dyn Files, top: SandboxPath) -> Result<BTreeMap<String, FileStat>> {
    let mut found = BTreeMap::new();
    let mut folders = VecDeque::from([top]);
    while let Some(folder) = folders.pop_front() {
        let entries = match files.list(&folder, 1).await {
            Ok(entries) => entries,
            Err(BackendError::File { .. } | BackendError::NoSuchFile(_)) => continue,
            Err(error) => return Err(error),
        };
        for stat in entries {
            match stat.kind {
                FileKind::File => {
                    found.insert(stat.path.clone(), stat);
                }
                FileKind::Directory => folders.extend(SandboxPath::parse(&stat.path)),
                FileKind::Symlink | FileKind::Other => {}
            }
            if found.len() >= MOST_LISTED {
                return Ok(found);
            }
        }
    }
    Ok(found)
}

/// None when at `path` there is no plain file: nothing, a folder, a link, or a path nobody may ask for.
pub(crate) async fn plain_file(files: &dyn Files, path: &str) -> Result<Option<FileStat>> {
    let Ok(path) = SandboxPath::parse(path) else { return Ok(None) };
    match files.stat(&path).await {
        Ok(stat) if stat.kind == FileKind::File => Ok(Some(stat)),
        Ok(_) | Err(BackendError::NoSuchFile(_) | BackendError::File { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

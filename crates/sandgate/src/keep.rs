//! What leaves the sandbox: images the code displayed and files it made, put into folders of the user.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sandgate_core::{BackendError, FileChange, FileChangeKind, FileKind, Files, MimeBundle, SandboxPath};

use crate::bad_input::BadInput;

/// Mime type, ending, and whether the data is base64. The first that is there is kept.
const PICTURES: [(&str, &str, bool); 6] = [
    ("image/png", "png", true),
    ("image/jpeg", "jpg", true),
    ("image/webp", "webp", true),
    ("image/gif", "gif", true),
    ("image/svg+xml", "svg", false),
    ("application/pdf", "pdf", true),
];

#[derive(Debug)]
pub(crate) struct Keeper {
    pictures_to: Option<PathBuf>,
    files_to: Option<PathBuf>,
    next_number: u32,
    /// Everything written so far.
    pub(crate) saved: Vec<PathBuf>,
    missed_pictures: usize,
    missed_files: usize,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Picture {
    Saved(PathBuf),
    /// There is no folder for it; counted.
    NotKept,
}

impl Keeper {
    /// The folders are made now, so that what cannot work is said before any code runs.
    pub(crate) fn new(pictures_to: Option<PathBuf>, files_to: Option<PathBuf>) -> Result<Self> {
        for folder in pictures_to.iter().chain(&files_to) {
            std::fs::create_dir_all(folder).map_err(|error| {
                BadInput::error(format!("cannot use the folder {}: {error}", folder.display()))
            })?;
        }
        let saved = Vec::new();
        Ok(Self { pictures_to, files_to, next_number: 1, saved, missed_pictures: 0, missed_files: 0 })
    }

    /// None when there is no picture in `data`.
    pub(crate) fn picture(&mut self, data: &MimeBundle) -> Result<Option<Picture>> {
        let Some((bytes, ending)) = PICTURES.iter().find_map(|kind| decode(data, kind)) else {
            return Ok(None);
        };
        let Some(folder) = &self.pictures_to else {
            self.missed_pictures += 1;
            return Ok(Some(Picture::NotKept));
        };
        loop {
            let path = folder.join(format!("figure-{}.{ending}", self.next_number));
            self.next_number += 1;
            // Never over a picture of an earlier run.
            let made = OpenOptions::new().write(true).create_new(true).open(&path);
            if made.as_ref().is_err_and(|error| error.kind() == ErrorKind::AlreadyExists) {
                continue;
            }
            let written = made.and_then(|mut file| file.write_all(&bytes));
            written.with_context(|| format!("cannot write {}", path.display()))?;
            self.saved.push(path.clone());
            return Ok(Some(Picture::Saved(path)));
        }
    }

    /// Copies what was made or changed; gives where to.
    pub(crate) async fn files(&mut self, files: &dyn Files, changes: &[FileChange]) -> Result<Vec<PathBuf>> {
        let there = changes.iter().filter(|change| change.kind != FileChangeKind::Removed);
        let Some(folder) = self.files_to.clone() else {
            self.missed_files += there.count();
            return Ok(Vec::new());
        };
        let mut copied = Vec::new();
        for change in there {
            let inside = SandboxPath::parse(&change.path)?;
            let target = self.beside_pictures(folder.join(below_working_dir(&inside)));
            if copy_out(files, &inside, &target).await? {
                copied.push(target);
            }
        }
        self.saved.extend(copied.iter().cloned());
        Ok(copied)
    }

    /// One sentence on what was made and not kept, once.
    pub(crate) fn missed(&mut self) -> Option<String> {
        let count = |n: usize, one: &str| match n {
            0 => None,
            1 => Some(format!("1 {one}")),
            n => Some(format!("{n} {one}s")),
        };
        let pictures = count(std::mem::take(&mut self.missed_pictures), "image");
        let files = count(std::mem::take(&mut self.missed_files), "file");
        let what = [pictures, files].into_iter().flatten().collect::<Vec<_>>().join(" and ");
        (!what.is_empty()).then(|| format!("{what} made and not kept; --out DIR keeps them"))
    }

    /// A file the code named as a picture was just named gives way.
    fn beside_pictures(&self, wanted: PathBuf) -> PathBuf {
        let taken = |path: &Path| self.saved.iter().any(|saved| saved == path && is_our_figure(path));
        if !taken(&wanted) {
            return wanted;
        }
        let name = wanted.file_name().unwrap_or_default().to_string_lossy().into_owned();
        wanted.with_file_name(format!("file-{name}"))
    }
}

fn is_our_figure(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("figure-"))
}

/// Data that is not what its type says counts as not there: it comes from the code.
fn decode(
    data: &MimeBundle,
    (mime, ending, base64): &(&str, &'static str, bool),
) -> Option<(Vec<u8>, &'static str)> {
    let text = data.get(*mime)?.as_str()?;
    if !base64 {
        return Some((text.as_bytes().to_vec(), ending));
    }
    let text: String = text.split_ascii_whitespace().collect();
    Some((STANDARD.decode(text).ok()?, ending))
}

fn below_working_dir(path: &SandboxPath) -> &str {
    let text = path.as_str();
    let below = text.strip_prefix(SandboxPath::WORKING_DIR).filter(|rest| rest.starts_with('/'));
    below.unwrap_or(text).trim_start_matches('/')
}

/// False when there is no plain file at that path any more.
async fn copy_out(files: &dyn Files, inside: &SandboxPath, target: &Path) -> Result<bool> {
    let stat = match files.stat(inside).await {
        Err(BackendError::NoSuchFile(_)) => return Ok(false),
        stat => stat?,
    };
    if stat.kind != FileKind::File {
        return Ok(false);
    }
    let mut content = files.open(inside, None).await?;
    let write = async {
        if let Some(folder) = target.parent() {
            tokio::fs::create_dir_all(folder).await?;
        }
        let mut file = tokio::fs::File::create(target).await?;
        tokio::io::copy(&mut content.reader, &mut file).await?;
        tokio::io::AsyncWriteExt::flush(&mut file).await
    };
    write.await.with_context(|| format!("cannot write {}", target.display()))?;
    Ok(true)
}

#[cfg(test)]
#[path = "keep_tests.rs"]
mod tests;

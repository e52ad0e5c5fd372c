//! What leaves the sandbox: images the code displayed and files it made, put into folders of the user.

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sandgate_core::{
    BackendError, FileChange, FileChangeKind, FileContent, FileKind, Files, MimeBundle, SandboxPath,
    human_bytes,
};
use tokio::io::AsyncReadExt;

use crate::bad_input::BadInput;
use crate::out_folder::{Made, OutFolder, is_in_the_way};

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
    pictures_to: Option<OutFolder>,
    files_to: Option<OutFolder>,
    /// All files together: a file with holes says that it is far larger than the disk it took.
    max_bytes: u64,
    /// What was put where, and how large it is. Changed once more, it is written once more.
    kept: HashMap<SandboxPath, (Made, u64)>,
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

/// What became of a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    Saved(PathBuf),
    /// A sentence that says which and why.
    Not(String),
}

impl Keeper {
    /// The folders are made now, so that what cannot work is said before any code runs.
    pub(crate) fn new(
        pictures_to: Option<PathBuf>,
        files_to: Option<PathBuf>,
        max_bytes: u64,
    ) -> Result<Self> {
        let open = |folder: Option<PathBuf>| {
            let opened = folder.map(|folder| {
                OutFolder::open(folder.clone()).map_err(|error| {
                    BadInput::error(format!("cannot use the folder {}: {error}", folder.display()))
                })
            });
            opened.transpose()
        };
        Ok(Self {
            pictures_to: open(pictures_to)?,
            files_to: open(files_to)?,
            max_bytes,
            kept: HashMap::new(),
            next_number: 1,
            saved: Vec::new(),
            missed_pictures: 0,
            missed_files: 0,
        })
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
            let name = format!("figure-{}.{ending}", self.next_number);
            self.next_number += 1;
            // Never over a picture of an earlier run, which are counted on from.
            let made = folder.create_exactly(Path::new(&name));
            let Some((mut file, made)) = made.with_context(|| format!("cannot write {name}"))? else {
                continue;
            };
            let path = folder.path(&made);
            file.write_all(&bytes).with_context(|| format!("cannot write {}", path.display()))?;
            self.saved.push(path.clone());
            return Ok(Some(Picture::Saved(path)));
        }
    }

    /// Copies what was made or changed; gives what became of each.
    pub(crate) async fn files(&mut self, files: &dyn Files, changes: &[FileChange]) -> Result<Vec<Kept>> {
        let there = changes.iter().filter(|change| change.kind != FileChangeKind::Removed);
        if self.files_to.is_none() {
            self.missed_files += there.count();
            return Ok(Vec::new());
        }
        let mut all = Vec::new();
        for change in there {
            let Ok(inside) = SandboxPath::parse(&change.path) else {
                all.push(Kept::Not(format!(
                    "a file was not saved: its path is too long: {}",
                    start_of(&change.path)
                )));
                continue;
            };
            if let Some(content) = plain_file(files, &inside).await? {
                all.extend(self.file(&inside, content).await?);
            }
        }
        let saved = all.iter().filter_map(|kept| match kept {
            Kept::Saved(path) => Some(path.clone()),
            Kept::Not(_) => None,
        });
        self.saved.extend(saved);
        Ok(all)
    }

    async fn file(&mut self, inside: &SandboxPath, content: FileContent) -> Result<Option<Kept>> {
        let Some(folder) = &self.files_to else { return Ok(None) };
        let before = self.kept.get(inside).cloned();
        let others: u64 = self.kept.values().map(|(_, size)| size).sum();
        let others = others - before.as_ref().map_or(0, |(_, size)| *size);
        let size = content.stat.size;
        if size > self.max_bytes.saturating_sub(others) {
            let limit = human_bytes(self.max_bytes);
            let why = format!("{inside} was not saved: with it, more than {limit} would have come out");
            return Ok(Some(Kept::Not(why)));
        }
        let again = before.map(|(made, _)| folder.reopen(&made).map(|file| file.map(|file| (file, made))));
        let opened = match again.transpose() {
            Ok(Some(Some(again))) => Ok(again),
            Ok(_) => folder.create(Path::new(below_working_dir(inside))),
            Err(error) => Err(error),
        };
        let (file, made) = match opened {
            Err(error) if is_in_the_way(&error) => {
                let why = format!("{inside} was not saved: a link or a file is in the way");
                return Ok(Some(Kept::Not(why)));
            }
            opened => opened.with_context(|| format!("cannot write what {inside} holds"))?,
        };
        let path = folder.path(&made);
        let mut file = tokio::fs::File::from_std(file);
        let copy = async {
            // It may grow meanwhile.
            tokio::io::copy(&mut content.reader.take(size), &mut file).await?;
            tokio::io::AsyncWriteExt::flush(&mut file).await
        };
        if let Err(error) = copy.await {
            folder.remove(&made);
            return Err(error).with_context(|| format!("cannot write {}", path.display()));
        }
        self.kept.insert(inside.clone(), (made, size));
        Ok(Some(Kept::Saved(path)))
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

/// None when there is no plain file at that path any more.
async fn plain_file(files: &dyn Files, inside: &SandboxPath) -> Result<Option<FileContent>> {
    let stat = match files.stat(inside).await {
        Err(BackendError::NoSuchFile(_)) => return Ok(None),
        stat => stat?,
    };
    Ok(if stat.kind == FileKind::File { Some(files.open(inside, None).await?) } else { None })
}

fn start_of(text: &str) -> &str {
    &text[..text.floor_char_boundary(200)]
}

#[cfg(test)]
#[path = "keep_tests.rs"]
mod tests;

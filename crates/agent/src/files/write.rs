//! A file from the server. One that is new grows in its place, as with any program; one that replaces another is
//! gathered beside it, and takes its place in one step once it is whole.

use std::cell::RefCell;
use std::collections::HashSet;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use sandgate_agent::protocol::{Entry, Failure, FailureKind, FromAgent, ToAgent};

use crate::connection::{Incoming, Outgoing, failure};
use crate::files::entry;
use crate::files::tree::make_folders;

/// How drafts are called, with a number behind it.
const DRAFT: &str = ".sandgate-draft-";
/// As any program's files.
const MODE: u32 = 0o644;

/// Whether a file of this name is one of ours. Watches do not tell of those.
pub(crate) fn is_draft(name: &str) -> bool {
    let number = name.strip_prefix(DRAFT).unwrap_or_default();
    number.len() == 20 && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// Where the content goes meanwhile.
#[derive(Debug)]
struct Draft {
    target: PathBuf,
    /// None: it goes into the file itself, which is new, or nothing can be made beside it.
    aside: Option<PathBuf>,
    /// It was not there before, and is not to stay in parts.
    new: bool,
    file: File,
}

pub(crate) async fn receive(path: &str, mut incoming: Incoming, mut outgoing: Outgoing) {
    let done = match Draft::begin(Path::new(path)) {
        Ok(draft) => draft.fill(&mut incoming).await,
        Err(error) => Err(error),
    };
    let said = match done {
        Ok(entry) => FromAgent::Entry(entry),
        Err(failure) => FromAgent::Failed(failure),
    };
    let _ = outgoing.say(&said).await;
    // The rest of what the server sends is read, so that it gets to hear why nobody wants it.
    incoming.closed().await;
}

thread_local! {
    /// Folders that this agent looked through.
    static SWEPT: RefCell<HashSet<PathBuf>> = RefCell::default();
}
/// Of these, and of what is looked at in one: a sandbox may have made any number.
const MOST_FOLDERS: usize = 1024;
const MOST_NAMES: usize = 10_000;

/// Drafts of an agent that was killed stay behind, and nobody fills them any more. There is one agent at a time, so
/// those that are in a folder before the first of this one's are such.
fn sweep(folder: &Path) {
    let is_first =
        SWEPT.with_borrow_mut(|swept| swept.len() < MOST_FOLDERS && swept.insert(folder.to_owned()));
    if !is_first {
        return;
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten().take(MOST_NAMES) {
        if entry.file_name().to_str().is_some_and(is_draft) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn random() -> io::Result<String> {
    let mut bytes = [0u8; 8];
    sandgate_jail::sys::fill_random(&mut bytes).map_err(io::Error::other)?;
    Ok(format!("{:020}", u64::from_ne_bytes(bytes)))
}

impl Draft {
    fn begin(path: &Path) -> Result<Self, Failure> {
        Self::try_begin(path).map_err(|error| failure(&error))?
    }

    fn try_begin(path: &Path) -> io::Result<Result<Self, Failure>> {
        // What a link leads to is written, as any program would.
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let old = fs::metadata(&target).ok();
        if let Some(old) = &old
            && !old.is_file()
        {
            let (kind, text) = if old.is_dir() {
                (FailureKind::IsFolder, "it is a folder")
            } else {
                (FailureKind::Other, "it is not a plain file")
            };
            return Ok(Err(Failure { kind, text: text.into() }));
        }
        let Some(folder) = target.parent() else {
            return Ok(Err(Failure { kind: FailureKind::IsFolder, text: "it is a folder".into() }));
        };
        make_folders(folder)?;
        let make = |path: &Path| OpenOptions::new().write(true).create_new(true).mode(MODE).open(path);
        let Some(old) = old else {
            let file = make(&target)?;
            let draft = Self { target, aside: None, new: true, file };
            // Whatever the mask takes away.
            draft.file.set_permissions(Permissions::from_mode(MODE))?;
            return Ok(Ok(draft));
        };
        sweep(folder);
        let aside = folder.join(format!("{DRAFT}{}", random()?));
        match make(&aside) {
            Ok(file) => {
                let draft = Self { target, aside: Some(aside), new: false, file };
                // One that may not be written to is not replaced either.
                OpenOptions::new().write(true).open(&draft.target)?;
                draft.file.set_permissions(Permissions::from_mode(old.permissions().mode()))?;
                Ok(Ok(draft))
            }
            Err(error) if error.raw_os_error() == Some(libc::EACCES) => {
                let file = OpenOptions::new().write(true).truncate(true).open(&target)?;
                Ok(Ok(Self { target, aside: None, new: false, file }))
            }
            Err(error) => Err(error),
        }
    }

    async fn fill(mut self, incoming: &mut Incoming) -> Result<Entry, Failure> {
        loop {
            match incoming.next().await {
                Some(ToAgent::Data(bytes)) => {
                    self.file.write_all(&bytes).map_err(|error| failure(&error))?;
                }
                Some(ToAgent::DataEnd) => return self.finish().map_err(|error| failure(&error)),
                _ => return Err(Failure { kind: FailureKind::Other, text: "the content broke off".into() }),
            }
        }
    }

    fn finish(mut self) -> io::Result<Entry> {
        if let Some(aside) = &self.aside {
            fs::rename(aside, &self.target)?;
            self.aside = None;
        }
        self.new = false;
        entry::look(&self.target)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if let Some(aside) = &self.aside {
            let _ = fs::remove_file(aside);
        } else if self.new && self.is_in_its_place() {
            let _ = fs::remove_file(&self.target);
        }
    }
}

impl Draft {
    /// Nobody has put another file there meanwhile.
    fn is_in_its_place(&self) -> bool {
        let (there, ours) = (fs::symlink_metadata(&self.target), self.file.metadata());
        matches!((there, ours), (Ok(there), Ok(ours)) if there.dev() == ours.dev() && there.ino() == ours.ino())
    }
}

#[cfg(test)]
#[path = "write_tests.rs"]
mod tests;

//! A file from the server: gathered beside its place, and there in one step once it is whole.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use sandgate_agent::protocol::{Entry, Failure, FailureKind, FromAgent, ToAgent};

use crate::connection::{Incoming, Outgoing, failure};
use crate::files::entry;
use crate::files::tree::make_folders;

/// How drafts are called, by whether there is a file they will replace. Watches know them by this.
pub(crate) const DRAFT_OF_NEW: &str = ".sandgate-new-";
pub(crate) const DRAFT_OF_OLD: &str = ".sandgate-old-";

/// Where the content goes meanwhile.
#[derive(Debug)]
struct Draft {
    target: PathBuf,
    /// None: it goes into the file itself, because nothing can be made beside it.
    aside: Option<PathBuf>,
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

fn random() -> io::Result<String> {
    let mut bytes = [0u8; 8];
    sandgate_jail::sys::fill_random(&mut bytes).map_err(io::Error::other)?;
    Ok(u64::from_ne_bytes(bytes).to_string())
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
        let prefix = if old.is_some() { DRAFT_OF_OLD } else { DRAFT_OF_NEW };
        let aside = folder.join(format!("{prefix}{}", random()?));
        let made = OpenOptions::new().write(true).create_new(true).mode(0o644).open(&aside);
        match (made, old) {
            (Ok(file), old) => {
                if let Some(old) = old {
                    // One that may not be written to is not replaced either.
                    if let Err(error) = OpenOptions::new().write(true).open(&target) {
                        let _ = fs::remove_file(&aside);
                        return Err(error);
                    }
                    file.set_permissions(Permissions::from_mode(old.permissions().mode()))?;
                }
                Ok(Ok(Self { target, aside: Some(aside), file }))
            }
            (Err(error), Some(_)) if error.raw_os_error() == Some(libc::EACCES) => {
                let file = OpenOptions::new().write(true).truncate(true).open(&target)?;
                Ok(Ok(Self { target, aside: None, file }))
            }
            (Err(error), _) => Err(error),
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
        entry::look(&self.target)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if let Some(aside) = &self.aside {
            let _ = fs::remove_file(aside);
        }
    }
}

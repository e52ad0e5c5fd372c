//! A file for the server, in parts as it takes them.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use bytes::Bytes;
use rustix::fs::{Mode, OFlags, open};
use sandgate_agent::protocol::{FILE_CHUNK, Failure, FailureKind, FromAgent};

use crate::connection::{Outgoing, failure};
use crate::files::entry;

/// What it is, then its bytes, then that this was all.
pub(crate) async fn send(path: &str, start: u64, length: Option<u64>, mut outgoing: Outgoing) {
    let (file, entry) = match begin(Path::new(path), start) {
        Ok(opened) => opened,
        Err(failure) => {
            let _ = outgoing.say(&FromAgent::Failed(failure)).await;
            return;
        }
    };
    if outgoing.say(&FromAgent::Entry(entry)).await.is_err() {
        return;
    }
    let mut file = file.take(length.unwrap_or(u64::MAX));
    let mut buffer = vec![0; FILE_CHUNK];
    loop {
        let said = match file.read(&mut buffer) {
            Ok(0) => FromAgent::Done,
            Ok(length) => FromAgent::Data(Bytes::copy_from_slice(&buffer[..length])),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => FromAgent::Failed(failure(&error)),
        };
        if outgoing.say(&said).await.is_err() || !matches!(said, FromAgent::Data(_)) {
            return;
        }
    }
}

/// Files that the kernel makes up say that they are empty. More of one than this is not read.
const MADE_UP: u64 = 1 << 20;

/// What there is to read, and what it is.
type Opened = (Box<dyn Read>, sandgate_agent::protocol::Entry);

fn begin(path: &Path, start: u64) -> Result<Opened, Failure> {
    // A pipe with nobody at its other end must not hold up everything.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let opened = open(path, flags, Mode::empty()).map_err(|error| failure(&error.into()))?;
    let mut file = File::from(opened);
    let meta = file.metadata().map_err(|error| failure(&error))?;
    let refused = |kind, text: String| Failure { kind, text };
    if meta.is_dir() {
        return Err(refused(FailureKind::IsFolder, "it is a folder".into()));
    }
    if !meta.is_file() {
        return Err(refused(FailureKind::Other, "it is not a plain file".into()));
    }
    let mut entry = entry::look(path).map_err(|error| failure(&error))?;
    // Of what was opened, which is what a link leads to.
    entry.size = meta.len();
    let content: Box<dyn Read> = if meta.len() == 0 {
        let mut made_up = Vec::new();
        Read::take(&mut file, MADE_UP).read_to_end(&mut made_up).map_err(|error| failure(&error))?;
        entry.size = made_up.len() as u64;
        let mut made_up = io::Cursor::new(made_up);
        made_up.set_position(start);
        Box::new(made_up)
    } else {
        file.seek(SeekFrom::Start(start.min(meta.len()))).map_err(|error| failure(&error))?;
        Box::new(file)
    };
    if start > entry.size {
        let text = format!("the range starts after the end of the file ({} bytes)", entry.size);
        return Err(refused(FailureKind::Other, text));
    }
    Ok((content, entry))
}

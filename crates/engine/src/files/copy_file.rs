//! One file of a copy: what it holds, holes left out, and its `user.` attributes.

use std::ffi::CStr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::fs::{
    FileType, Mode, OFlags, ResolveFlags, SeekFrom, XattrFlags, chmod, copy_file_range, fgetxattr,
    flistxattr, fsetxattr, fstat, ftruncate, openat, openat2, seek,
};
use rustix::io::{Errno, pread, pwrite};

use super::copy::{CopyError, Copying};

/// Bytes that are copied between two looks at the disk.
const PIECE: u64 = 16 << 20;
const BUFFER: usize = 256 << 10;
/// The longest list of names, and the longest value, that Linux gives.
const LONGEST_ATTRIBUTE: usize = 64 << 10;

/// The file `name` of `at`, made under the same name in `to`. What became something else since it was listed is
/// gone for this.
pub(super) fn copy_file(
    copying: &mut Copying<'_>,
    at: BorrowedFd<'_>,
    name: &CStr,
    to: BorrowedFd<'_>,
) -> Result<OwnedFd, CopyError> {
    let from = open_source(at, name)?;
    let stat = fstat(&from)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(Errno::NOENT.into());
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let made = openat(to, name, flags, Mode::from_raw_mode(0o600))?;
    let size = u64::try_from(stat.st_size).unwrap_or(0);
    copy_data(copying, &from, &made, size)?;
    // Also when it ends with a hole.
    ftruncate(&made, size)?;
    copy_attributes(&from, &made)?;
    Ok(made)
}

/// Never through a link, and without waiting for whoever holds it.
fn open_source(at: BorrowedFd<'_>, name: &CStr) -> Result<OwnedFd, CopyError> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    match openat2(at, name, flags, Mode::empty(), resolve) {
        // A link where the file was.
        Err(Errno::LOOP) => Err(Errno::NOENT.into()),
        Err(Errno::AGAIN) => Err(CopyError::Changing),
        Err(Errno::ACCESS) => {
            // An engine of an ordinary user may not read a file whose rights code inside took away, but the file
            // is its own: it gives itself the right for a moment.
            let handle =
                openat2(at, name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty(), resolve)?;
            let mode = Mode::from_raw_mode(fstat(&handle)?.st_mode);
            let path = format!("/proc/self/fd/{}", handle.as_raw_fd());
            chmod(&path, mode | Mode::RUSR)?;
            let opened = openat2(at, name, flags, Mode::empty(), resolve);
            chmod(&path, mode)?;
            Ok(opened?)
        }
        opened => Ok(opened?),
    }
}

/// Piece by piece, so that neither a limit nor the end of the engine is passed by more than one of them.
fn copy_data(copying: &mut Copying<'_>, from: &OwnedFd, made: &OwnedFd, size: u64) -> Result<(), CopyError> {
    let mut done = 0;
    while done < size {
        let start = match seek(from, SeekFrom::Data(done)) {
            // Nothing but a hole is left.
            Err(Errno::NXIO) => return Ok(()),
            start => start?,
        };
        let end = seek(from, SeekFrom::Hole(start))?.min(size);
        done = start;
        while done < end {
            let piece = (end - done).min(PIECE);
            copying.bytes = copying.bytes.saturating_add(piece);
            if copying.bytes > copying.bounds.bytes {
                return Err(CopyError::TooLarge(copying.bounds.bytes));
            }
            if piece == PIECE {
                copying.look_at_disk(made.as_fd())?;
            }
            let copied = copy_piece(from, made, done, piece)?;
            if copied == 0 {
                // It became shorter.
                return Ok(());
            }
            copying.bytes -= piece - copied;
            done += copied;
        }
    }
    Ok(())
}

fn copy_piece(from: &OwnedFd, made: &OwnedFd, at: u64, length: u64) -> Result<u64, Errno> {
    let (mut here, mut there) = (at, at);
    let whole = usize::try_from(length).unwrap_or(usize::MAX);
    match copy_file_range(from, Some(&mut here), made, Some(&mut there), whole) {
        // Not on this file system.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP | Errno::XDEV | Errno::PERM) => {}
        copied => return Ok(copied? as u64),
    }
    let mut buffer = vec![0; whole.min(BUFFER)];
    let read = pread(from, &mut buffer[..], at)?;
    let mut written = 0;
    while written < read {
        written += pwrite(made, &buffer[written..read], at + written as u64)?;
    }
    Ok(read as u64)
}

fn copy_attributes(from: &OwnedFd, made: &OwnedFd) -> Result<(), Errno> {
    let mut names = vec![0u8; LONGEST_ATTRIBUTE];
    let length = match flistxattr(from, &mut names[..]) {
        Err(Errno::OPNOTSUPP) => return Ok(()),
        length => length?,
    };
    for name in names[..length].split(|byte| *byte == 0).filter(|name| name.starts_with(b"user.")) {
        let mut value = vec![0u8; LONGEST_ATTRIBUTE];
        let length = fgetxattr(from, name, &mut value[..])?;
        fsetxattr(made, name, &value[..length], XattrFlags::empty())?;
    }
    Ok(())
}

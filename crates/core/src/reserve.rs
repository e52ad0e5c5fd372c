//! A part of the disk that is left to the host: when only that is free, nothing more is written for sandboxes.

use std::os::fd::BorrowedFd;

use rustix::fs::{StatVfs, fstatvfs};

/// One part in so many of the file system, and no more than these, in bytes and in files.
const ONE_IN: u64 = 50;
const AT_MOST_BYTES: u64 = 512 << 20;
const AT_MOST_FILES: u64 = 10_000;

/// Whether only the reserve is left of the file system that holds this.
#[must_use]
pub fn space_is_short(on: BorrowedFd<'_>) -> bool {
    fstatvfs(on).is_ok_and(|disk| is_short(&disk))
}

fn is_short(disk: &StatVfs) -> bool {
    let bytes = disk.f_bavail.saturating_mul(disk.f_frsize);
    let of_bytes = disk.f_blocks.saturating_mul(disk.f_frsize) / ONE_IN;
    // Some file systems have no fixed number of files, and say 0.
    let files_short = disk.f_files > 0 && disk.f_favail < (disk.f_files / ONE_IN).min(AT_MOST_FILES);
    bytes < of_bytes.min(AT_MOST_BYTES) || files_short
}

#[cfg(test)]
#[path = "reserve_tests.rs"]
mod tests;

//! Extended attributes of files, and which disks count them.

use std::ffi::{CStr, CString};
use std::mem;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Whether the file has this attribute with exactly this value.
#[must_use]
pub fn has_attribute(path: &Path, name: &CStr, value: &[u8]) -> bool {
    let Ok(path) = CString::new(path.as_os_str().as_bytes()) else { return false };
    let mut found = [0_u8; 64];
    // SAFETY: both strings end with a zero byte, and at most `found.len()` bytes are written to `found`.
    let length =
        unsafe { libc::getxattr(path.as_ptr(), name.as_ptr(), found.as_mut_ptr().cast(), found.len()) };
    usize::try_from(length).is_ok_and(|length| &found[..length] == value)
}

/// File systems on which the blocks of attributes are among the blocks of their file, so that a walk counts them.
const COUNTING: [u32; 3] = [0xef53, 0x5846_5342, 0xf2f5_2010]; // ext, XFS, F2FS

/// Whether attributes of files at `path` count to the size of their files.
pub(crate) fn counts_attributes(path: &CStr) -> bool {
    // SAFETY: all bytes zero is a valid value of this plain structure.
    let mut told: libc::statfs = unsafe { mem::zeroed() };
    // SAFETY: the path ends with a zero byte, and `told` is a structure to be written to.
    let done = unsafe { libc::statfs(path.as_ptr(), &raw mut told) };
    // The names are 32 bits long; the type of the field differs between architectures.
    let name = u32::try_from(i128::from(told.f_type) & 0xffff_ffff).unwrap_or(0);
    done == 0 && COUNTING.contains(&name)
}

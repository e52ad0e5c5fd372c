//! Extended attributes of files.

use std::ffi::{CStr, CString};
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

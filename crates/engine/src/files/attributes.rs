//! Extended attributes of files, set from outside on every disk. Code inside may set its own only where their bytes
//! count; these are few.

use std::collections::BTreeMap;
use std::os::fd::AsFd;

use rustix::fs::{OFlags, XattrFlags, flistxattr, fremovexattr, fsetxattr};
use rustix::io::Errno;
use sandgate_core::{BackendError, Result, SandboxPath};

use super::inside::Inside;
use super::open::{file_error, open_in};

/// Of names and values together.
const MAX_BYTES: usize = 4 << 10;
const MAX_NAME: usize = 200;
const PREFIX: &str = "user.";

/// Whether a file could have these, before it is written.
pub(crate) fn check_attributes(attributes: &BTreeMap<String, String>) -> Result<()> {
    let bytes: usize = attributes.iter().map(|(name, value)| name.len() + value.len()).sum();
    let bad_name = |name: &String| name.is_empty() || name.len() > MAX_NAME || name.contains('\0');
    if bytes > MAX_BYTES || attributes.keys().any(bad_name) {
        let text = format!("attributes may have {MAX_BYTES} bytes, and their names {MAX_NAME}");
        return Err(BackendError::Invalid(text));
    }
    Ok(())
}

impl Inside {
    /// Exactly these, of those that begin with `user.`. False: the disk below the sandbox keeps none.
    pub(super) fn set_attributes(
        &self,
        path: &SandboxPath,
        attributes: &BTreeMap<String, String>,
    ) -> Result<bool> {
        check_attributes(attributes)?;
        super::inside::within_places(path)?;
        let file = open_in(self.root.as_fd(), path, OFlags::RDONLY)?;
        let failed = |error: Errno| match error {
            Errno::NOSPC | Errno::DQUOT => BackendError::NoSpace(path.to_string()),
            other => file_error(path, other),
        };
        let mut names = vec![0u8; 64 << 10];
        let length = match flistxattr(&file, &mut names[..]) {
            Err(Errno::OPNOTSUPP) => return Ok(false),
            other => other.map_err(failed)?,
        };
        let names =
            names[..length].split(|byte| *byte == 0).filter_map(|name| std::str::from_utf8(name).ok());
        for name in names {
            if name.strip_prefix(PREFIX).is_some_and(|name| !attributes.contains_key(name)) {
                fremovexattr(&file, name).map_err(failed)?;
            }
        }
        for (name, value) in attributes {
            let name = format!("{PREFIX}{name}");
            match fsetxattr(&file, &*name, value.as_bytes(), XattrFlags::empty()) {
                Err(Errno::OPNOTSUPP) => return Ok(false),
                other => other.map_err(failed)?,
            }
        }
        Ok(true)
    }
}

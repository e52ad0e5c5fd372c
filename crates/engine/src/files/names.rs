//! The names of a volume's files, to tell what changed. Each name is kept once, however deep it lies, and all of
//! them together only up to a bound: what is beyond counts, and cannot be named.

use std::ffi::CStr;

/// Bytes of all names: 200,000 of them when they are of usual length.
const MAX_BYTES: usize = 4 << 20;
/// Longer paths cannot be opened by whoever reads them.
const MAX_PATH: usize = 4096;

/// A name, and the folder it is in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Name {
    folder: Folder,
    start: u32,
    length: u16,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Folder(u32);

#[derive(Debug, Default)]
pub(super) struct Names {
    bytes: Vec<u8>,
    /// Each after the one it is in, the first one in itself.
    folders: Vec<Name>,
}

impl Names {
    /// The folder that paths begin with; before all others.
    pub(super) fn top(&mut self, path: &str) -> Folder {
        self.bytes.extend_from_slice(path.as_bytes());
        self.folders.push(Name {
            folder: Folder(0),
            start: 0,
            length: u16::try_from(path.len()).unwrap_or(0),
        });
        Folder(0)
    }

    pub(super) fn add(&mut self, folder: Folder, name: &CStr) -> Option<Name> {
        let name = name.to_bytes();
        if self.bytes.len() + name.len() > MAX_BYTES {
            return None;
        }
        let start = u32::try_from(self.bytes.len()).ok()?;
        self.bytes.extend_from_slice(name);
        Some(Name { folder, start, length: u16::try_from(name.len()).ok()? })
    }

    pub(super) fn add_folder(&mut self, above: Folder, name: &CStr) -> Option<Folder> {
        let folder = Folder(u32::try_from(self.folders.len()).ok()?);
        let name = self.add(above, name)?;
        self.folders.push(name);
        Some(folder)
    }

    #[cfg(test)]
    pub(super) fn kept_bytes(&self) -> usize {
        self.bytes.capacity() + self.folders.capacity() * size_of::<Name>()
    }

    /// From the root on. None where it is too long to be of use.
    pub(super) fn path(&self, name: Name) -> Option<String> {
        let (mut parts, mut length, mut at) = (Vec::new(), 0, name);
        loop {
            let start = at.start as usize;
            let part = self.bytes.get(start..start + usize::from(at.length))?;
            length += part.len() + 1;
            if length > MAX_PATH {
                return None;
            }
            parts.push(part);
            // The top is the only name at the very beginning.
            if start == 0 {
                break;
            }
            at = *self.folders.get(at.folder.0 as usize)?;
        }
        let mut path = Vec::with_capacity(length);
        for part in parts.iter().rev() {
            path.push(b'/');
            path.extend_from_slice(part);
        }
        Some(String::from_utf8_lossy(&path).into_owned())
    }
}

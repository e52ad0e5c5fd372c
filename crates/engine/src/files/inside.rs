//! What is done to the files of one volume, by calls that may block: code inside can make any of them slow by
//! holding or changing what they touch.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;

use rustix::fs::{
    AtFlags, Dir, FileType, Gid, Mode, OFlags, RawMode, Uid, fchown, fstat, mkdirat, openat, readlinkat,
    renameat, statat, unlinkat,
};
use rustix::io::Errno;
use sandgate_core::{BackendError, FileKind, FileStat, Result, SandboxPath, random_hex};

use super::held::VolumeRoot;
use super::open::{file_error, open_in, open_parent, refused};
use super::remove::{open_folder, remove_entry};
use super::walk::{TRASH, usage};

/// Only below these are there files that outlive a process.
const PLACES: [&str; 2] = ["/mnt/data", "/home/user"];
const MAX_LISTED: usize = 10_000;

#[derive(Debug)]
pub(super) struct Inside {
    pub(super) root: VolumeRoot,
    /// The folder above the root, which code inside does not see.
    aside: OwnedFd,
    /// Whom new files belong to; None: whoever runs the engine.
    owner: Option<u32>,
    max_bytes: u64,
    max_entries: u64,
}

impl Inside {
    pub(super) fn open(
        root: &Path,
        owner: Option<u32>,
        max_bytes: u64,
        max_entries: u64,
    ) -> io::Result<Self> {
        let aside = open_folder(root.parent().unwrap_or(root))?;
        let root = rustix::fs::open(root, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Self { root: VolumeRoot::new(root, owner, max_entries), aside, owner, max_bytes, max_entries })
    }

    /// A plain file, to be read.
    pub(super) fn open_file(&self, path: &SandboxPath) -> Result<(File, FileStat)> {
        within_places(path)?;
        let fd = open_in(self.root.as_fd(), path, OFlags::RDONLY)?;
        let stat = stat_of(path, &fstat(&fd).map_err(|error| file_error(path, error))?, None);
        match stat.kind {
            FileKind::File => Ok((File::from(fd), stat)),
            FileKind::Directory => Err(refused(path, "that is a folder")),
            FileKind::Symlink | FileKind::Other => Err(refused(path, "that is not a plain file")),
        }
    }

    fn give_to_owner(&self, fd: impl AsFd, path: &SandboxPath) -> Result<()> {
        let Some(owner) = self.owner else { return Ok(()) };
        let (uid, gid) = (Uid::from_raw(owner), Gid::from_raw(owner));
        fchown(fd, Some(uid), Some(gid)).map_err(|error| file_error(path, error))
    }

    /// Refuses a folder that a link of code inside led to, above the places: what is written there would not
    /// count, and what is moved or removed there could be the places themselves.
    fn in_places(&self, folder: OwnedFd, path: &SandboxPath) -> Result<OwnedFd> {
        let real = |fd: i32| std::fs::read_link(format!("/proc/self/fd/{fd}"));
        let (root, at) = match (real(self.root.as_fd().as_raw_fd()), real(folder.as_raw_fd())) {
            (Ok(root), Ok(at)) => (root, at),
            (Err(error), _) | (_, Err(error)) => return Err(refused(path, &error.to_string())),
        };
        let inside = |place: &str| at.starts_with(root.join(place.trim_start_matches('/')));
        if PLACES.into_iter().any(inside) {
            return Ok(folder);
        }
        Err(refused(path, "a link leads out of /mnt/data and /home/user"))
    }

    /// The folder `path`, made with all above it where missing.
    fn ensure_dir(&self, path: &SandboxPath) -> Result<OwnedFd> {
        match open_in(self.root.as_fd(), path, OFlags::RDONLY | OFlags::DIRECTORY) {
            Err(BackendError::NoSuchFile(_)) => {}
            opened => return self.in_places(opened?, path),
        }
        self.check_space(path)?;
        let (parent, name) = path.split().ok_or_else(|| refused(path, "that is the root itself"))?;
        let above = self.ensure_dir(&parent)?;
        match mkdirat(&above, name, Mode::from_raw_mode(0o755)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(file_error(path, error)),
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let made = openat(&above, name, flags, Mode::empty()).map_err(|error| file_error(path, error))?;
        self.give_to_owner(&made, path)?;
        Ok(made)
    }

    /// Where an upload is gathered before it takes its name, and how large it may become.
    pub(super) fn begin_upload(&self, path: &SandboxPath) -> Result<(Draft, File, u64)> {
        below_places(path)?;
        self.check_space(path)?;
        let room = self.max_bytes.saturating_sub(usage(self.root.as_fd(), self.max_entries).bytes);
        let (parent, name) = path.split().ok_or_else(|| refused(path, "that is a folder"))?;
        let folder = self.ensure_dir(&parent)?;
        let draft = format!(".upload-{}", random_hex(8));
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let aside = self.aside.try_clone().map_err(|error| refused(path, &error.to_string()))?;
        let file = openat(&self.aside, &*draft, flags, Mode::from_raw_mode(0o644))
            .map_err(|error| file_error(path, error))?;
        let draft = Draft { folder, aside, draft, name: name.to_owned() };
        self.give_to_owner(&file, path)?;
        Ok((draft, file.into(), room))
    }

    /// Refuses to make anything while only the host's reserve is left of the disk.
    pub(super) fn check_space(&self, path: &SandboxPath) -> Result<()> {
        if self.root.disk_is_short() {
            return Err(refused(
                path,
                "the host's disk is nearly full; nothing can be written until there is room",
            ));
        }
        Ok(())
    }

    /// Where folders wait to be emptied. Code inside does not see it; what it manages to leave there counts.
    fn trash(&self) -> std::result::Result<OwnedFd, Errno> {
        match mkdirat(&self.root, TRASH, Mode::from_raw_mode(0o700)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error),
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        openat(&self.root, TRASH, flags, Mode::empty())
    }

    pub(super) fn list(&self, path: &SandboxPath, depth: u32) -> Result<Vec<FileStat>> {
        within_places(path)?;
        let mut listed = Vec::new();
        let mut folders = vec![(path.clone(), depth)];
        while let Some((folder, levels)) = folders.pop() {
            let opened = match open_in(self.root.as_fd(), &folder, OFlags::RDONLY | OFlags::DIRECTORY) {
                Ok(opened) => opened,
                // Removed while we were listing what is above it.
                Err(_) if folder != *path => continue,
                Err(error) => return Err(error),
            };
            for entry in Dir::read_from(&opened).map_err(|error| file_error(&folder, error))?.flatten() {
                // A name that is not text cannot be asked for later, so it is not offered.
                let Ok(name) = entry.file_name().to_str() else { continue };
                if name == "." || name == ".." {
                    continue;
                }
                let Ok(child) = SandboxPath::parse(&format!("{folder}/{name}")) else { continue };
                let Ok(stat) = stat_entry(&opened, name, &child) else { continue };
                if stat.kind == FileKind::Directory && levels > 1 {
                    folders.push((child, levels - 1));
                }
                listed.push(stat);
                if listed.len() > MAX_LISTED {
                    return Err(refused(
                        path,
                        &format!("there are more than {MAX_LISTED} files; list a smaller folder"),
                    ));
                }
            }
        }
        listed.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(listed)
    }

    pub(super) fn stat(&self, path: &SandboxPath) -> Result<FileStat> {
        within_places(path)?;
        let (folder, name) = open_parent(self.root.as_fd(), path)?;
        stat_entry(&folder, name, path)
    }

    pub(super) fn make_dir(&self, path: &SandboxPath) -> Result<FileStat> {
        below_places(path)?;
        let made = self.ensure_dir(path)?;
        let stat = fstat(&made).map_err(|error| file_error(path, error))?;
        Ok(stat_of(path, &stat, None))
    }

    pub(super) fn rename(&self, from: &SandboxPath, to: &SandboxPath) -> Result<FileStat> {
        below_places(from)?;
        below_places(to)?;
        let (old_folder, old_name) = open_parent(self.root.as_fd(), from)?;
        let old_folder = self.in_places(old_folder, from)?;
        let (parent, new_name) = to.split().ok_or_else(|| refused(to, "that is the root itself"))?;
        let new_folder = self.ensure_dir(&parent)?;
        renameat(&old_folder, old_name, &new_folder, new_name).map_err(|error| file_error(from, error))?;
        stat_entry(&new_folder, new_name, to)
    }

    pub(super) fn remove(&self, path: &SandboxPath) -> Result<()> {
        below_places(path)?;
        let (folder, name) = open_parent(self.root.as_fd(), path)?;
        let folder = self.in_places(folder, path)?;
        let name =
            std::ffi::CString::new(name).map_err(|_| refused(path, "a path cannot hold a NUL byte"))?;
        // As elsewhere, what is not there is an error.
        statat(&folder, &name, AtFlags::SYMLINK_NOFOLLOW).map_err(|error| file_error(path, error))?;
        let trash = self.trash().map_err(|error| file_error(path, error))?;
        remove_entry(folder.as_fd(), &name, trash.as_fd()).map_err(|error| file_error(path, error))
    }
}

/// A file under a temporary name; removed unless it took its real one.
#[derive(Debug)]
pub(super) struct Draft {
    folder: OwnedFd,
    /// Where it is gathered, out of the sight of code inside.
    aside: OwnedFd,
    draft: String,
    name: String,
}

impl Draft {
    /// Gives it its name, in place of what has that name.
    pub(super) fn finish(&self, path: &SandboxPath) -> Result<FileStat> {
        renameat(&self.aside, &*self.draft, &self.folder, &*self.name)
            .map_err(|error| file_error(path, error))?;
        stat_entry(&self.folder, &self.name, path)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // Gone already when the upload succeeded.
        let _ = unlinkat(&self.aside, &*self.draft, AtFlags::empty());
    }
}

fn stat_of(path: &SandboxPath, stat: &rustix::fs::Stat, link_target: Option<String>) -> FileStat {
    let kind = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => FileKind::File,
        FileType::Directory => FileKind::Directory,
        FileType::Symlink => FileKind::Symlink,
        _ => FileKind::Other,
    };
    FileStat {
        path: path.to_string(),
        kind,
        size: u64::try_from(stat.st_size).unwrap_or(0),
        mode: RawMode::from(stat.st_mode) & 0o7777,
        modified_ms: stat.st_mtime.saturating_mul(1000) + stat.st_mtime_nsec as i64 / 1_000_000,
        link_target,
    }
}

fn stat_entry(folder: &OwnedFd, name: &str, path: &SandboxPath) -> Result<FileStat> {
    let stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).map_err(|error| file_error(path, error))?;
    let target =
        readlinkat(folder, name, Vec::new()).ok().map(|target| target.to_string_lossy().into_owned());
    Ok(stat_of(path, &stat, target))
}

/// Refuses what lies outside the places whose files are kept.
pub(super) fn within_places(path: &SandboxPath) -> Result<()> {
    let inside = |place: &str| {
        path.as_str().strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    if PLACES.into_iter().any(inside) {
        return Ok(());
    }
    Err(refused(path, "only /mnt/data and /home/user can be reached from outside"))
}

/// And not one of the places itself.
fn below_places(path: &SandboxPath) -> Result<()> {
    within_places(path)?;
    if PLACES.contains(&path.as_str()) {
        return Err(refused(path, "this folder belongs to the container and stays as it is"));
    }
    Ok(())
}

//! Mounts and the root of a mount namespace.

use std::ffi::CStr;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::ptr;

use libc::{c_ulong, c_void};

use super::{chdir, check, owned};
use crate::Result;

/// Makes the current directory the root, with the old root stacked under it, then lets go of the old one.
pub fn pivot_root_here() -> Result<()> {
    let here = c".";
    // SAFETY: the paths are valid C strings.
    check("pivot_root", unsafe { libc::syscall(libc::SYS_pivot_root, here.as_ptr(), here.as_ptr()) })?;
    // SAFETY: as above. After the call above "." is the old root, stacked on the new one.
    check("umount of the old root", unsafe { libc::umount2(here.as_ptr(), libc::MNT_DETACH) })?;
    chdir(c"/")
}

pub fn mount(
    source: &CStr,
    target: &CStr,
    kind: Option<&CStr>,
    flags: c_ulong,
    data: Option<&CStr>,
) -> Result<()> {
    let pointer = |text: Option<&CStr>| text.map_or(ptr::null(), CStr::as_ptr);
    // SAFETY: all pointers are valid C strings or null where mount allows it.
    let returned = unsafe {
        libc::mount(source.as_ptr(), target.as_ptr(), pointer(kind), flags, pointer(data).cast::<c_void>())
    };
    check("mount", returned).map(drop).map_err(|error| error.on(target.to_string_lossy()))
}

pub const OPEN_TREE_CLONE: u32 = 1;

/// A private copy of the mounts at and below `path`, not yet attached anywhere.
pub fn clone_tree(path: &CStr) -> Result<OwnedFd> {
    let flags = OPEN_TREE_CLONE | libc::O_CLOEXEC as u32 | libc::AT_RECURSIVE as u32;
    // SAFETY: the path is a valid C string.
    let returned = unsafe { libc::syscall(libc::SYS_open_tree, libc::AT_FDCWD, path.as_ptr(), flags) };
    owned("open_tree", returned).map_err(|error| error.on(path.to_string_lossy()))
}

#[repr(C)]
struct MountAttributes {
    set: u64,
    clear: u64,
    propagation: u64,
    userns: u64,
}

pub const ATTR_RDONLY: u64 = 1;

pub const ATTR_NOSUID: u64 = 2;

pub const ATTR_NODEV: u64 = 4;

pub const ATTR_NOEXEC: u64 = 8;

/// Sets attributes on every mount of a tree.
pub fn set_tree_attributes(tree: BorrowedFd<'_>, set: u64) -> Result<()> {
    let attributes = MountAttributes { set, clear: 0, propagation: libc::MS_PRIVATE, userns: 0 };
    let flags = (libc::AT_EMPTY_PATH | libc::AT_RECURSIVE) as u32;
    // SAFETY: attributes outlives the call and has the size given.
    let returned = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            tree.as_raw_fd(),
            c"".as_ptr(),
            flags,
            ptr::from_ref(&attributes),
            size_of::<MountAttributes>(),
        )
    };
    check("mount_setattr", returned).map(drop)
}

/// Attaches a detached tree at `target`.
pub fn attach_tree(tree: BorrowedFd<'_>, target: &CStr) -> Result<()> {
    const MOVE_MOUNT_F_EMPTY_PATH: u32 = 4;
    // SAFETY: both paths are valid C strings.
    let returned = unsafe {
        libc::syscall(
            libc::SYS_move_mount,
            tree.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_FDCWD,
            target.as_ptr(),
            MOVE_MOUNT_F_EMPTY_PATH,
        )
    };
    check("move_mount", returned).map(drop).map_err(|error| error.on(target.to_string_lossy()))
}

/// Sets attributes on one mount.
pub fn set_mount_attributes(path: &CStr, set: u64) -> Result<()> {
    let attributes = MountAttributes { set, clear: 0, propagation: 0, userns: 0 };
    // SAFETY: attributes outlives the call and has the size given; the path is a valid C string.
    let returned = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            path.as_ptr(),
            0u32,
            ptr::from_ref(&attributes),
            size_of::<MountAttributes>(),
        )
    };
    check("mount_setattr", returned).map(drop).map_err(|error| error.on(path.to_string_lossy()))
}

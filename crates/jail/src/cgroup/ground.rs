//! Where in the hierarchy of version 2 there is room for the engine's groups. A group that hands controllers
//! down may have no processes of its own (but for the top of the whole hierarchy), and the one that a server
//! was started in mostly has some: a session's shell, what started the server, the server.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::files::{failed, make, processes, remove};
use super::{CgroupError, Result};
use crate::sys;

const CONTROLLERS: [&str; 3] = ["memory", "pids", "cpu"];
/// The leaf that processes are put into which stood where controllers are handed down. One name for every
/// run: what they start next is in it too, and finds its parent ready.
const ASIDE: &str = "sandgate-aside";
/// How often processes that a group gets meanwhile are put aside too.
const TRIES: u32 = 20;

/// The nearest group that has the controllers and hands them down, from `own` up to `top`, where the
/// hierarchy is mounted. The nearest, because what limits the groups above then holds for sandboxes too.
pub(super) fn find(top: &Path, own: &Path) -> Result<PathBuf> {
    let mut refused = None;
    for group in own.ancestors().take_while(|group| group.starts_with(top)) {
        match hand_down(group, group == top) {
            Ok(()) => return Ok(group.to_owned()),
            // Not handed down to this group; one above it may have them.
            Err(CgroupError::NotMounted) => {}
            // What stands in the way nearby says more than what does further up.
            Err(error) => _ = refused.get_or_insert(error),
        }
    }
    Err(refused.unwrap_or(CgroupError::NotMounted))
}

/// Has the groups below this one get the controllers.
pub(super) fn hand_down(group: &Path, is_top: bool) -> Result<()> {
    let has_all = |file: &str| {
        let listed = fs::read_to_string(group.join(file)).unwrap_or_default();
        CONTROLLERS.iter().all(|wanted| listed.split_whitespace().any(|one| one == *wanted))
    };
    if !has_all("cgroup.controllers") {
        return Err(CgroupError::NotMounted);
    }
    if has_all("cgroup.subtree_control") {
        return may_make_groups(group);
    }
    match switch_on(group) {
        Err(error) if error.raw_os_error() == Some(libc::EBUSY) && are_ours(group, is_top)? => {
            step_aside(group)
        }
        done => done.map_err(|error| failed(&group.join("cgroup.subtree_control"), &error)),
    }
}

fn switch_on(group: &Path) -> std::io::Result<()> {
    let all = CONTROLLERS.map(|controller| format!("+{controller}")).join(" ");
    fs::write(group.join("cgroup.subtree_control"), all)
}

fn may_make_groups(group: &Path) -> Result<()> {
    let probe = group.join(format!("sandgate-probe-{}", std::process::id()));
    make(&probe)?;
    remove(&probe)
}

/// Whether the processes of a group may be moved within it: it has this one alone, it was given to whoever
/// started it to do with as they like, or it is all that a container sees of the hierarchy.
fn are_ours(group: &Path, is_top: bool) -> Result<bool> {
    if is_top || sys::has_attribute(group, c"user.delegate", b"1") {
        return Ok(true);
    }
    let owner =
        |path: &Path| fs::metadata(path).map(|about| about.uid()).map_err(|error| failed(path, &error));
    let owns = owner(group)?;
    if owns != 0 && owns == owner(Path::new("/proc/self"))? {
        return Ok(true);
    }
    let own = i32::try_from(std::process::id()).ok();
    Ok(processes(group)?.into_iter().map(Some).eq([own]))
}

/// Puts all processes of the group into a leaf of it, and back where that was for nothing.
fn step_aside(group: &Path) -> Result<()> {
    let leaf = group.join(ASIDE);
    make(&leaf)?;
    let mut last = None;
    for _ in 0..TRIES {
        move_all(group, &leaf)?;
        match switch_on(group) {
            Ok(()) => return Ok(()),
            Err(error) => last = Some(error),
        }
    }
    move_all(&leaf, group)?;
    remove(&leaf)?;
    let error = last.unwrap_or_else(|| std::io::Error::from_raw_os_error(libc::EBUSY));
    Err(failed(&group.join("cgroup.subtree_control"), &error))
}

fn move_all(from: &Path, to: &Path) -> Result<()> {
    let entrance = to.join("cgroup.procs");
    for pid in processes(from)? {
        match fs::write(&entrance, pid.to_string()) {
            // Ended in the meantime.
            Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
            done => done.map_err(|error| failed(&entrance, &error))?,
        }
    }
    Ok(())
}

/// Makes the engine's own group below such a one.
pub(super) fn settle(ground: &Path, name: &str) -> Result<PathBuf> {
    let base = ground.join(name);
    make(&base)?;
    match switch_on(&base) {
        Ok(()) => Ok(base),
        Err(error) => {
            remove(&base)?;
            Err(failed(&base.join("cgroup.subtree_control"), &error))
        }
    }
}

#[cfg(test)]
#[path = "ground_tests.rs"]
mod tests;

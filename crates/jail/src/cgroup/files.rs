//! Reading and writing the small files cgroups are made of.

use std::fs;
use std::io::ErrorKind;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{CgroupError, Result};

pub(super) fn failed(path: &Path, error: &std::io::Error) -> CgroupError {
    CgroupError::File { path: path.to_owned(), reason: error.to_string() }
}

pub(super) fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).map_err(|error| failed(path, &error))
}

pub(super) fn write(path: &Path, value: &str) -> Result<()> {
    fs::write(path, value).map_err(|error| failed(path, &error))
}

/// Writes a limit and reads it back: a limit the kernel did not take is no limit.
pub(super) fn write_confirmed(path: &Path, value: &str) -> Result<()> {
    write(path, value)?;
    let found = read(path)?;
    if found.trim() == value {
        return Ok(());
    }
    Err(CgroupError::NotConfirmed {
        path: path.to_owned(),
        wanted: value.to_owned(),
        found: found.trim().to_owned(),
    })
}

/// Memory limits are kept in whole pages.
pub(super) fn whole_pages(bytes: u64) -> u64 {
    bytes / 4096 * 4096
}

pub(super) fn make(path: &Path) -> Result<()> {
    match fs::create_dir(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(failed(path, &error)),
        _ => Ok(()),
    }
}

/// Removes a group. The kernel says "busy" for a moment after the last process in it died.
pub(super) fn remove(path: &Path) -> Result<()> {
    let mut waited = Duration::ZERO;
    loop {
        match fs::remove_dir(path) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) && waited < Duration::from_secs(2) => {
                let pause = Duration::from_millis(2) + waited / 4;
                std::thread::sleep(pause);
                waited += pause;
            }
            Err(error) => return Err(failed(path, &error)),
        }
    }
}

pub(super) fn subfolders(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
        .collect()
}

pub(super) fn processes(group: &Path) -> Result<Vec<i32>> {
    let text = read(&group.join("cgroup.procs"))?;
    // A 0 stands for a process that this PID namespace cannot see; nothing can be done to it from here.
    Ok(text.lines().filter_map(|line| line.parse().ok()).filter(|pid| *pid > 0).collect())
}

/// The number behind `key` in a file of `key number` lines.
pub(super) fn counter(path: &Path, key: &str) -> Result<u64> {
    let text = read(path)?;
    let value = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')?.trim().parse().ok());
    Ok(value.unwrap_or(0))
}

pub(super) fn number(path: &Path) -> Result<u64> {
    let text = read(path)?;
    text.trim().parse().map_err(|_| CgroupError::File {
        path: path.to_owned(),
        reason: format!("'{}' is no number", text.trim()),
    })
}

/// Mount point and this process's own place in a hierarchy; `wanted` picks it by file system type and options.
pub(super) fn mounted(wanted: impl Fn(&str, &str) -> bool) -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    mounts.lines().find_map(|line| {
        // "36 35 98:0 /root /mount/point rw,… optional - type source options"
        let (left, right) = line.split_once(" - ")?;
        let mut right = right.split(' ');
        let (kind, _, options) = (right.next()?, right.next()?, right.next()?);
        let mount_point = left.split(' ').nth(4)?;
        wanted(kind, options).then(|| PathBuf::from(mount_point))
    })
}

/// Path of process `who` in the hierarchy that carries `controller` ("" is version 2), below its mount point.
pub(super) fn place(who: &str, controller: &str) -> Option<String> {
    place_in(&fs::read_to_string(format!("/proc/{who}/cgroup")).ok()?, controller)
}

/// Whether process `pid` is in each of the groups, by one look at it.
pub(super) fn confirm(pid: i32, groups: &[(&str, PathBuf)]) -> Result<()> {
    let places = read(Path::new(&format!("/proc/{pid}/cgroup")))?;
    for (controller, group) in groups {
        let there = place_in(&places, controller)
            .is_some_and(|path| !path.is_empty() && group.ends_with(path.trim_start_matches("../")));
        if !there {
            return Err(CgroupError::NotAttached { pid, path: group.clone() });
        }
    }
    Ok(())
}

fn place_in(places: &str, controller: &str) -> Option<String> {
    places.lines().find_map(|line| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        controllers.split(',').any(|one| one == controller).then(|| path.trim_start_matches('/').to_owned())
    })
}

/// The file that takes processes into a group (`name` of it), open for writing.
pub(super) fn entrance(group: &Path, name: &str) -> Result<OwnedFd> {
    let path = group.join(name);
    let file = fs::File::options().write(true).open(&path).map_err(|error| failed(&path, &error))?;
    Ok(file.into())
}

/// Processor time of a live process and of those of its children that it has waited for.
pub(super) fn cpu_micros_of(pid: i32) -> u64 {
    const MICROS_PER_TICK: u64 = 10_000;
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // Behind the name, which may hold anything but ends with the last bracket; then fields 14 to 17 of the line.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_ascii_whitespace();
    let ticks: u64 = fields.skip(11).take(4).filter_map(|field| field.parse::<u64>().ok()).sum();
    ticks * MICROS_PER_TICK
}

//! Before the first fork: the zygote's memory in large pages.
//!
//! A fork copies one entry per page, so a heap of some 100 MiB in small pages costs milliseconds each time, and
//! in large ones next to nothing. A child that writes splits only the large page it writes to. Where the kernel
//! cannot do it, forks are slower and nothing else changes.

use std::fs;

use sandgate_jail::sys;

const LARGE_PAGE: usize = 2 << 20;

pub(crate) fn into_large_pages() {
    let Ok(maps) = fs::read_to_string("/proc/self/maps") else { return };
    for (start, end) in maps.lines().filter_map(private_memory) {
        let first = start.next_multiple_of(LARGE_PAGE);
        let last = end / LARGE_PAGE * LARGE_PAGE;
        if first < last {
            // Refused for what cannot be made large; that stays as it is.
            let _ = sys::use_large_pages(first, last - first);
        }
    }
}

/// The addresses of a mapping that is anonymous, private and writable: "start-end rw-p offset dev inode path".
fn private_memory(line: &str) -> Option<(usize, usize)> {
    let mut fields = line.split_ascii_whitespace();
    let (range, rights, _offset, _device, inode, name) =
        (fields.next()?, fields.next()?, fields.next()?, fields.next()?, fields.next()?, fields.next());
    if rights != "rw-p" || inode != "0" || !matches!(name, None | Some("[heap]")) {
        return None;
    }
    let (start, end) = range.split_once('-')?;
    Some((usize::from_str_radix(start, 16).ok()?, usize::from_str_radix(end, 16).ok()?))
}

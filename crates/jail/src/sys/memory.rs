//! Random bytes and large pages.

use libc::{c_int, c_void};

use super::check;
use crate::Result;

/// Fills the buffer with random bytes from the kernel.
pub fn fill_random(buffer: &mut [u8]) -> Result<()> {
    let mut done = 0;
    while done < buffer.len() {
        let rest = &mut buffer[done..];
        // SAFETY: the pointer and length describe `rest`.
        let got =
            check("getrandom", unsafe { libc::getrandom(rest.as_mut_ptr().cast(), rest.len(), 0) } as i64)?;
        done += usize::try_from(got).unwrap_or(0);
    }
    Ok(())
}

/// Asks the kernel to back memory of this process with large pages, now. Its content stays as it is.
pub fn use_large_pages(address: usize, length: usize) -> Result<()> {
    const MADV_COLLAPSE: c_int = 25;
    for advice in [libc::MADV_HUGEPAGE, MADV_COLLAPSE] {
        // SAFETY: neither advice changes what the memory holds or who may use it, and a range that is not
        // mapped is refused.
        check("madvise", unsafe { libc::madvise(address as *mut c_void, length, advice) })?;
    }
    Ok(())
}

/// Has the allocator keep blocks up to this size for the next one that asks, instead of giving each back
/// to the kernel: bodies of requests come and go, and fresh pages cost more than copying into old ones.
/// A wish: where the allocator is another one, nothing changes.
pub fn keep_big_blocks(bytes: i32) {
    #[cfg(target_env = "gnu")]
    // SAFETY: mallopt only sets numbers of the allocator and is safe to call at any time; an unknown or
    // refused setting leaves it as it was.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, bytes);
        libc::mallopt(libc::M_TRIM_THRESHOLD, bytes);
    }
    #[cfg(not(target_env = "gnu"))]
    let _ = bytes;
}

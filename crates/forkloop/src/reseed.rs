//! Random generators whose state would be the same in every child: refilled right after the fork,
//! straight in memory, because asking numpy to do it costs more than everything else in a fork.

use std::ffi::c_int;
use std::sync::Mutex;

use sandgate_jail::{Result, sys};

struct Region {
    address: *mut u8,
    length: usize,
    position: *mut c_int,
    value: c_int,
}

// SAFETY: the addresses are only used in the one thread there is; the mutex is for the type system.
unsafe impl Send for Region {}

static REGIONS: Mutex<Vec<Region>> = Mutex::new(Vec::new());

pub(crate) fn register(address: *mut u8, length: usize, position: *mut c_int, value: c_int) {
    if let Ok(mut regions) = REGIONS.lock() {
        regions.push(Region { address, length, position, value });
    }
}

pub(crate) fn run() -> Result<()> {
    let Ok(regions) = REGIONS.lock() else { return Ok(()) };
    for region in regions.iter() {
        // SAFETY: whoever registered the region promised that it stays valid; nothing else runs now.
        let bytes = unsafe { std::slice::from_raw_parts_mut(region.address, region.length) };
        sys::fill_random(bytes)?;
        // SAFETY: as above.
        unsafe { region.position.write(region.value) };
    }
    Ok(())
}

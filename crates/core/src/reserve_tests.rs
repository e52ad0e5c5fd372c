//! Small and large disks, and those that do not count files.

use rustix::fs::StatVfs;

use super::is_short;

const GIB: u64 = 1 << 30;

fn disk(size: u64, free: u64, files: u64, free_files: u64) -> StatVfs {
    let mut disk = rustix::fs::statvfs("/").unwrap();
    (disk.f_frsize, disk.f_blocks, disk.f_bavail) = (4096, size / 4096, free / 4096);
    (disk.f_files, disk.f_favail) = (files, free_files);
    disk
}

#[test]
fn the_reserve_is_a_fiftieth_and_at_most_half_a_gibibyte() {
    for (size, free, short) in [
        (GIB, GIB / 40, false),
        (GIB, GIB / 60, true),
        (1000 * GIB, GIB, false),
        (1000 * GIB, GIB / 4, true),
        (GIB, 0, true),
    ] {
        assert_eq!(is_short(&disk(size, free, 0, 0)), short, "{free} of {size}");
    }
}

#[test]
fn files_may_run_out_before_bytes_do() {
    assert!(is_short(&disk(GIB, GIB, 65_536, 100)));
    assert!(!is_short(&disk(GIB, GIB, 65_536, 2_000)));
    assert!(!is_short(&disk(GIB, GIB, 100_000_000, 20_000)));
}

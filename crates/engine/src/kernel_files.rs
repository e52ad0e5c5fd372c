//! The kernel's Python files and the zygote's native library, carried in the program.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const PYTHON: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/kernel_files.rs"));
const LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libsandgate_forkloop.so"));

/// Lays them out in `folder`, which sandboxes see; readable by everybody.
pub(crate) fn unpack(folder: &Path) -> io::Result<()> {
    let package = folder.join("sandgate_kernel");
    fs::create_dir_all(&package)?;
    for path in [folder, &package] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755))?;
    }
    let library = ("libsandgate_forkloop.so", LIBRARY);
    let files = PYTHON.iter().map(|(name, bytes)| (package.join(name), *bytes));
    for (path, bytes) in files.chain([(folder.join(library.0), library.1)]) {
        fs::write(&path, bytes)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644))?;
    }
    Ok(())
}

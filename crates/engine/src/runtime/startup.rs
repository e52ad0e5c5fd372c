//! What the runtime's Python does before any program: it finds the packages that a sandbox installed, and lets pip
//! install there. Put into the virtual environment when it is used, so that one made earlier has it as well.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use sandgate_core::random_hex;

use super::install::site_packages;
use super::{PythonRuntime, RuntimeError};

const FILES: [(&str, &str); 2] = [
    ("sandgate_startup.py", include_str!("../../../../runtimes/python/startup/sandgate_startup.py")),
    // Last: it calls the other.
    ("sandgate.pth", include_str!("../../../../runtimes/python/startup/sandgate.pth")),
];

/// Others may be using the runtime at this moment: each file is there as a whole or not at all.
pub(super) fn put_into(runtime: &PythonRuntime) -> Result<(), RuntimeError> {
    let site = site_packages(&runtime.venv, &runtime.version);
    for (name, content) in FILES {
        let file = site.join(name);
        if fs::read_to_string(&file).is_ok_and(|found| found == content) {
            continue;
        }
        let part = site.join(format!(".{name}.{}", random_hex(8)));
        fs::write(&part, content)
            // The sandbox has another user.
            .and_then(|()| fs::set_permissions(&part, Permissions::from_mode(0o644)))
            .and_then(|()| fs::rename(&part, &file))
            .map_err(RuntimeError::file("write", &file))?;
    }
    Ok(())
}

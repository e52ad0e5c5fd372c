//! The kernel's Python files, the zygote's native library, the agent and a few commands, carried in the program.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const PYTHON: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/kernel_files.rs"));
const LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libsandgate_forkloop.so"));
const AGENT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/sandgate-agent"));
const SUDO: &[u8] = include_bytes!("../../../runtimes/commands/sudo");
/// Commands of ours, which are found before the system's.
const COMMANDS: &str = "bin";
/// What the agent is called in the folder.
pub(crate) const AGENT_NAME: &str = "agent";

/// Lays them out in `folder`, which sandboxes see; readable by everybody.
pub(crate) fn unpack(folder: &Path) -> io::Result<()> {
    let package = folder.join("sandgate_kernel");
    let commands = folder.join(COMMANDS);
    let mut folders = vec![folder.to_path_buf(), package.clone(), commands.clone()];
    folders.extend(PYTHON.iter().filter_map(|(name, _)| Some(package.join(name.rsplit_once('/')?.0))));
    for path in folders {
        fs::create_dir_all(&path)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
    }
    let python = PYTHON.iter().map(|(name, bytes)| (package.join(name), *bytes, 0o644));
    let native = [
        (folder.join("libsandgate_forkloop.so"), LIBRARY, 0o644),
        (folder.join(AGENT_NAME), AGENT, 0o755),
        (commands.join("sudo"), SUDO, 0o755),
    ];
    for (path, bytes, mode) in python.chain(native) {
        fs::write(&path, bytes)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(mode))?;
    }
    Ok(())
}

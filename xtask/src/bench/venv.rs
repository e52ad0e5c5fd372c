//! The peers' virtual environment: the same Python and packages as the sandboxes', and ipykernel.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use sandgate_engine::runtime::PythonRuntime;

use crate::ground::Ground;
use crate::run::{must, output};
use crate::say::say;

const IPYKERNEL: [&str; 2] = ["ipykernel==7.4.0", "jupyter_client==8.10.0"];

#[derive(Debug)]
pub(super) struct PeerVenv {
    pub(super) folder: PathBuf,
    /// matplotlib's list of fonts, made once as it is for the sandboxes.
    pub(super) matplotlib: PathBuf,
    pub(super) log: PathBuf,
}

impl PeerVenv {
    pub(super) fn python(&self) -> Command {
        let mut command = Command::new(self.folder.join("bin/python3"));
        self.settings(&mut command);
        command
    }

    /// As the engine's own kernels have it.
    pub(super) fn settings(&self, command: &mut Command) {
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("PYTHON"))
        {
            command.env_remove(name);
        }
        command.env("OPENBLAS_NUM_THREADS", "1").env("MPLCONFIGDIR", &self.matplotlib);
    }
}

/// Makes it unless it is there and whole.
pub(super) fn prepare(ground: &Ground, runtime: &PythonRuntime) -> Result<PeerVenv> {
    let folder = ground.target.join("bench-venv");
    let matplotlib = folder.join("matplotlib");
    let venv = PeerVenv { log: folder.join("driver.log"), matplotlib, folder };
    let lock = ground.root.join("runtimes/python/requirements.lock");
    let mark = venv.folder.join("made-of");
    let made_of = format!(
        "{}\n{}\n{}",
        runtime.interpreter.display(),
        IPYKERNEL.join("\n"),
        fs::read_to_string(&lock)?
    );
    if fs::read_to_string(&mark).is_ok_and(|text| text == made_of) {
        return Ok(venv);
    }
    say("preparing the peers' virtual environment, once");
    make(&venv, &runtime.interpreter, &lock)?;
    fs::write(mark, made_of)?;
    Ok(venv)
}

fn make(venv: &PeerVenv, interpreter: &Path, lock: &Path) -> Result<()> {
    if venv.folder.exists() {
        fs::remove_dir_all(&venv.folder)?;
    }
    let mut command = Command::new(interpreter);
    command.args(["-I", "-m", "venv"]).arg(&venv.folder);
    must(command)?;
    let pip = |arguments: &[&str]| {
        let mut command = venv.python();
        command.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(arguments);
        command
    };
    must(pip(&["--require-hashes", "-r", &lock.to_string_lossy()]))?;
    must(pip(&IPYKERNEL))?;
    // Bytecode of every package, and the list of fonts: a first start is not what is measured.
    let mut compile = venv.python();
    compile.args(["-m", "compileall", "-q"]).arg(venv.folder.join("lib"));
    let _ = must(compile);
    let mut warm = venv.python();
    warm.args(["-c", super::FIRST_PROGRAM]);
    output(warm).map(drop)
}

//! Making the environment one that lives at `/opt/venv`: no path of the host stays in it.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::install::Attempt;
use super::{Candidate, RuntimeError, VENV_INSIDE};

/// What may not be in any file that the sandbox sees is the left, what stands there instead the right.
fn inside(bytes: &[u8], venv: &Path) -> Option<Vec<u8>> {
    let from = venv.as_os_str().as_bytes();
    let mut rest = bytes;
    let mut out = Vec::with_capacity(bytes.len());
    while let Some(at) = rest.windows(from.len()).position(|window| window == from) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(VENV_INSIDE.as_bytes());
        rest = &rest[at + from.len()..];
    }
    (rest.len() != bytes.len()).then(|| {
        out.extend_from_slice(rest);
        out
    })
}

impl Attempt<'_> {
    pub(super) fn relocate(&self) -> Result<(), RuntimeError> {
        rewrite_scripts(&self.venv)?;
        link_interpreter(&self.venv, self.candidate)?;
        write_configuration(&self.venv, self.candidate)
    }
}

/// First lines of the commands, and the paths in the activation scripts.
pub(super) fn rewrite_scripts(venv: &Path) -> Result<(), RuntimeError> {
    let bin = venv.join("bin");
    let entries = fs::read_dir(&bin).map_err(RuntimeError::file("read", &bin))?;
    for entry in entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file())) {
        let path = entry.path();
        let bytes = fs::read(&path).map_err(RuntimeError::file("read", &path))?;
        if let Some(text) = inside(&bytes, venv) {
            fs::write(&path, plain_first_line(text)).map_err(RuntimeError::file("write", &path))?;
        }
    }
    Ok(())
}

/// `#!/opt/venv/bin/python3`, also where pip wrote a detour through sh because the host's path was long or odd.
fn plain_first_line(text: Vec<u8>) -> Vec<u8> {
    let python = format!("{VENV_INSIDE}/bin/python");
    let detour = text.starts_with(b"#!/bin/sh\n'''exec' ");
    let direct = text.starts_with(format!("#!{python}").as_bytes());
    let skip = match (direct, detour) {
        (true, _) => 1,
        (_, true) => 3,
        _ => return text,
    };
    let body: Vec<&[u8]> = text.splitn(skip + 1, |byte| *byte == b'\n').skip(skip).collect();
    [format!("#!{python}3\n").as_bytes(), &body.concat()].concat()
}

/// `python3` is the base interpreter by its real path; the other names are links to `python3`.
pub(super) fn link_interpreter(venv: &Path, candidate: &Candidate) -> Result<(), RuntimeError> {
    let minor = candidate.version.rsplit_once('.').map_or("3", |(minor, _)| minor);
    let target = candidate.interpreter.as_path();
    let own = format!("python{minor}");
    for (name, target) in
        [("python3", target), ("python", Path::new("python3")), (&own, Path::new("python3"))]
    {
        let path = venv.join("bin").join(name);
        match fs::remove_file(&path) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                return Err(RuntimeError::file("replace", &path)(e));
            }
            _ => symlink(target, &path).map_err(RuntimeError::file("link", &path))?,
        }
    }
    Ok(())
}

pub(super) fn write_configuration(venv: &Path, candidate: &Candidate) -> Result<(), RuntimeError> {
    let path = venv.join("pyvenv.cfg");
    let home = candidate.interpreter.parent().unwrap_or(Path::new("/usr/bin"));
    let text = format!(
        "home = {}\ninclude-system-site-packages = false\nversion = {}\nexecutable = {}\n",
        home.display(),
        candidate.version,
        candidate.interpreter.display()
    );
    fs::write(&path, text).map_err(RuntimeError::file("write", &path))
}

/// matplotlib's list of fonts: those of the packages get their path of the inside, and fonts from folders that no
/// sandbox shows are dropped.
pub(super) fn rewrite_font_list(path: &Path, venv: &Path) -> Result<(), RuntimeError> {
    let bytes = fs::read(path).map_err(RuntimeError::file("read", path))?;
    let bytes = inside(&bytes, venv).unwrap_or(bytes);
    let failed = |e: serde_json::Error| RuntimeError::file("rewrite", path)(e.into());
    let mut list: serde_json::Value = serde_json::from_slice(&bytes).map_err(failed)?;
    for kind in ["ttflist", "afmlist"] {
        if let Some(fonts) = list.get_mut(kind).and_then(|fonts| fonts.as_array_mut()) {
            fonts.retain(|font| font.get("fname").and_then(|name| name.as_str()).is_none_or(is_shown));
        }
    }
    let text = serde_json::to_vec(&list).map_err(failed)?;
    fs::write(path, text).map_err(RuntimeError::file("write", path))
}

fn is_shown(font: &str) -> bool {
    let font = Path::new(font);
    // matplotlib's own are relative to its data folder.
    font.is_relative() || font.starts_with(VENV_INSIDE) || font.starts_with("/usr")
}

#[cfg(test)]
#[path = "relocate_tests.rs"]
mod tests;

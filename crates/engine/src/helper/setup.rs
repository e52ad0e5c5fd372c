//! What the helper is told once, at its start.

use std::path::Path;

use sandgate_jail::message::Message;
use sandgate_jail::root::RuntimeMounts;
use sandgate_jail::{Layers, StepError};

use crate::runtime::languages::LANGUAGES_INSIDE;
use crate::runtime::{PythonRuntime, VENV_INSIDE};

/// Where the kernel's own files are shown in every sandbox.
pub(crate) const ZYGOTE_FOLDER: &str = "/opt/sandgate";

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Setup {
    pub(crate) by_root: bool,
    pub(crate) layers: Layers,
    /// An empty folder to mount on.
    pub(crate) scratch: String,
    pub(crate) volumes: String,
    pub(crate) mounts: RuntimeMounts,
}

impl Setup {
    pub(crate) fn words(&self) -> Vec<String> {
        let mut words = vec![
            u32::from(self.by_root).to_string(),
            self.layers.bits().to_string(),
            self.scratch.clone(),
            self.volumes.clone(),
            self.mounts.shown.len().to_string(),
        ];
        for (host, inside) in &self.mounts.shown {
            words.push(host.clone());
            words.push(inside.clone());
        }
        words.extend(self.mounts.covered.iter().cloned());
        words
    }

    pub(crate) fn parse(message: &Message) -> Result<Self, StepError> {
        let number = |at| message.number(at).map(|value| usize::try_from(value).unwrap_or(0));
        let count = number(4)?;
        let mut shown = Vec::new();
        for at in 0..count {
            shown.push((message.word(5 + 2 * at)?.to_owned(), message.word(6 + 2 * at)?.to_owned()));
        }
        Ok(Self {
            by_root: number(0)? == 1,
            layers: Layers::from_bits(u32::try_from(number(1)?).unwrap_or(0)),
            scratch: message.word(2)?.to_owned(),
            volumes: message.word(3)?.to_owned(),
            mounts: RuntimeMounts {
                shown,
                covered: message.words.iter().skip(5 + 2 * count).cloned().collect(),
            },
        })
    }
}

/// Which folders of the host the runtime is made of.
pub(crate) fn runtime_mounts(
    runtime: &PythonRuntime,
    kernel_files: &Path,
    languages: &Path,
) -> RuntimeMounts {
    let show = |host: &Path, inside: &str| (host.to_string_lossy().into_owned(), inside.to_owned());
    let mut shown = vec![
        show(Path::new("/usr"), "/usr"),
        show(&runtime.venv, VENV_INSIDE),
        show(kernel_files, ZYGOTE_FOLDER),
        show(languages, LANGUAGES_INSIDE),
    ];
    let prefix = &runtime.base_prefix;
    let mut covered = vec!["/usr/src".to_owned()];
    if prefix.starts_with("/usr/local") {
        // The interpreter itself lives there, so it has to be seen.
    } else {
        // What an operator installed by hand is not part of the runtime.
        covered.push("/usr/local".to_owned());
        if !prefix.starts_with("/usr") {
            shown.push(show(prefix, &prefix.to_string_lossy()));
        }
    }
    RuntimeMounts { shown, covered }
}

#[cfg(test)]
#[path = "setup_tests.rs"]
mod tests;

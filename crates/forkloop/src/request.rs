//! An order to fork: a kind and numbers as words, and descriptors: six, and the entrances of its control groups.
//! What program to start is in a file among them: it may be long, and the zygote never reads it.

use std::os::fd::OwnedFd;

use sandgate_jail::confine::SelfLimits;
use sandgate_jail::{Layers, Result, StepError};

#[derive(Debug)]
pub(crate) struct ForkRequest {
    pub(crate) layers: Layers,
    pub(crate) limits: SelfLimits,
    /// PID 1 of the sandbox to join.
    pub(crate) sandbox: OwnedFd,
    pub(crate) control: OwnedFd,
    pub(crate) stdout: OwnedFd,
    pub(crate) stderr: OwnedFd,
    pub(crate) become_what: Become,
    /// Through these the child puts itself under the limits; none where the engine does that.
    pub(crate) groups: Vec<OwnedFd>,
}

/// What the child is to be.
#[derive(Debug)]
pub(crate) enum Become {
    /// An interpreter like the zygote, with the read ends of its own output.
    Kernel { stdout_reader: OwnedFd, stderr_reader: OwnedFd },
    /// Another program: [`sandgate_jail::program::Program`] is in the file.
    Program { stdin: OwnedFd, description: OwnedFd },
}

impl ForkRequest {
    pub(crate) fn parse(bytes: &[u8], mut fds: Vec<OwnedFd>) -> Result<Self> {
        let odd = |what: &str| StepError::new("reading a fork order", std::io::Error::other(what.to_owned()));
        let text = std::str::from_utf8(bytes).map_err(|_| odd("not text"))?;
        let (kind, numbers) = text.split_once('\0').ok_or_else(|| odd("no kind"))?;
        let mut words = numbers.split('\0').map(str::parse::<u64>);
        let mut number =
            || words.next().and_then(std::result::Result::ok).ok_or_else(|| odd("a number is missing"));
        let layers = Layers::from_bits(u32::try_from(number()?).map_err(|_| odd("layers"))?);
        let limits = SelfLimits {
            open_files: number()?,
            file_bytes: number()?,
            address_space: number()?,
            processes: number()?,
        };
        let groups = fds.split_off(fds.len().min(6));
        let fds: [OwnedFd; 6] = fds.try_into().map_err(|_| odd("six descriptors are due"))?;
        let [sandbox, control, stdout, stderr, fifth, sixth] = fds;
        let become_what = match kind {
            "fork" => Become::Kernel { stdout_reader: fifth, stderr_reader: sixth },
            "exec" => Become::Program { stdin: fifth, description: sixth },
            _ => return Err(odd("an unknown kind")),
        };
        Ok(Self { layers, limits, sandbox, control, stdout, stderr, become_what, groups })
    }
}

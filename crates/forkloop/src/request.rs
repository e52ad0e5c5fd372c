//! An order to fork: numbers as words, and descriptors: six, and the entrances of its control groups.

use std::os::fd::OwnedFd;

use sandgate_jail::confine::SelfLimits;
use sandgate_jail::{Layers, Result, StepError, process};

#[derive(Debug)]
pub(crate) struct ForkRequest {
    pub(crate) layers: Layers,
    pub(crate) limits: SelfLimits,
    /// PID 1 of the sandbox to join.
    pub(crate) sandbox: OwnedFd,
    pub(crate) control: OwnedFd,
    pub(crate) stdout: OwnedFd,
    pub(crate) stderr: OwnedFd,
    pub(crate) stdout_reader: OwnedFd,
    pub(crate) stderr_reader: OwnedFd,
    /// Through these the child puts itself under the limits; none where the engine does that.
    pub(crate) groups: Vec<OwnedFd>,
}

impl ForkRequest {
    pub(crate) fn parse(bytes: &[u8], mut fds: Vec<OwnedFd>) -> Result<Self> {
        let odd = |what: &str| StepError::new("reading a fork order", std::io::Error::other(what.to_owned()));
        let text = std::str::from_utf8(bytes).map_err(|_| odd("not text"))?;
        let mut words = text.split('\0').map(str::parse::<u64>);
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
        let [sandbox, control, stdout, stderr, stdout_reader, stderr_reader] = fds;
        Ok(Self { layers, limits, sandbox, control, stdout, stderr, stdout_reader, stderr_reader, groups })
    }

    pub(crate) fn namespaces(&self) -> i32 {
        process::namespaces(self.layers)
    }
}

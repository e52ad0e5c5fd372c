//! The helper inside: PID 1 of the engine's PID namespace, root over nothing but sandboxes. It makes
//! sandboxes and starts zygotes on request, and when the engine goes, it ends and everything with it.

use std::os::fd::{AsFd, OwnedFd};

use sandgate_jail::message::{Channel, Message};
use sandgate_jail::openings::{Opening, open_in_sandbox};
use sandgate_jail::process::{SandboxIds, SingleThreaded, make_sandbox, start_zygote};
use sandgate_jail::root::SandboxRoot;
use sandgate_jail::{Filters, Layers, Result, StepError, sys};

use super::outside::control_channel;

struct Spawner {
    alone: SingleThreaded,
    filters: Filters,
    layers: Layers,
}

pub(super) fn run() -> Result<()> {
    let layers = std::env::args().nth(1).and_then(|bits| bits.parse().ok()).unwrap_or(u32::MAX);
    let channel = control_channel()?;
    sys::ignore_children();
    let spawner = Spawner {
        alone: SingleThreaded::check()?,
        filters: Filters::compile()?,
        layers: Layers::from_bits(layers),
    };
    channel.send(&["ready"], &[])?;
    while let Some(message) = channel.receive()? {
        spawner.answer(&channel, &message)?;
    }
    Ok(())
}

impl Spawner {
    fn answer(&self, channel: &Channel, message: &Message) -> Result<()> {
        let made = match message.word(0)? {
            "sandbox" => self.sandbox(message),
            "zygote" => self.zygote(message),
            "open" => self.open(message),
            other => Err(StepError::new("reading a request", std::io::Error::other(other.to_owned()))),
        };
        match made {
            Ok(fds) => channel.send(&["made"], &fds.iter().map(AsFd::as_fd).collect::<Vec<_>>()),
            Err(error) => channel.send(&["failed", &error.to_string()], &[]),
        }
    }

    /// Words: volume, bytes of `/tmp`, and two ids or none. Descriptors: entrances of its control groups.
    fn sandbox(&self, message: &Message) -> Result<Vec<OwnedFd>> {
        let root = SandboxRoot { volume: message.word(1)?.to_owned(), tmp_bytes: message.number(2)? };
        let id = |at| message.number(at).map(|id| u32::try_from(id).unwrap_or(u32::MAX));
        let ids = match message.words.len() {
            5 => SandboxIds::Own { init: id(3)?, user: id(4)? },
            _ => SandboxIds::Shared,
        };
        let init = make_sandbox(&self.alone, &root, ids, &message.fds, self.layers, &self.filters)?;
        Ok(vec![init])
    }

    /// Words: how many arguments, arguments (the program first), environment. Descriptor: its control socket.
    fn zygote(&self, message: &Message) -> Result<Vec<OwnedFd>> {
        let count = usize::try_from(message.number(1)?).unwrap_or(0);
        let words: Vec<&str> = message.words.iter().skip(2).map(String::as_str).collect();
        let missing = || StepError::new("starting a zygote", std::io::ErrorKind::InvalidInput.into());
        let (arguments, environment) = words.split_at_checked(count).ok_or_else(missing)?;
        let program = arguments.first().ok_or_else(missing)?;
        let control = message.fds.first().ok_or_else(missing)?;
        let zygote =
            start_zygote(&self.alone, control.as_fd(), program, arguments, environment, self.layers)?;
        Ok(vec![zygote])
    }

    /// Words: what to open, one each. Descriptor: PID 1 of the sandbox.
    fn open(&self, message: &Message) -> Result<Vec<OwnedFd>> {
        let wanted: Vec<Opening> =
            message.words.iter().skip(1).map(|word| word.parse()).collect::<Result<_>>()?;
        let missing = || StepError::new("opening a way out", std::io::ErrorKind::InvalidInput.into());
        let init = message.fds.first().ok_or_else(missing)?;
        open_in_sandbox(&self.alone, init.as_fd(), &wanted)
    }
}

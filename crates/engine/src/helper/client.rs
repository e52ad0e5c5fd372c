//! The engine's side of the helper: starts it, maps its ids, asks it for sandboxes and zygotes.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::{fs, io};

use sandgate_jail::message::{Channel, Message};
use sandgate_jail::openings::Opening;
use sandgate_jail::sys;

use super::{OUTSIDE, Setup};
use crate::StartError;
use crate::ids::{IdRange, SandboxIdPair};
use crate::sealed::sealed;

/// The running helper. Dropping it ends the helper and every process of every sandbox.
#[derive(Debug)]
pub(crate) struct Helper {
    /// One request at a time; the helper has one thread.
    channel: Mutex<Option<Channel>>,
    process: Mutex<Child>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum HelperError {
    #[error("the engine's helper process is gone")]
    Gone,
    #[error("{0}")]
    Refused(String),
    #[error(transparent)]
    Step(#[from] sandgate_jail::StepError),
}

impl Helper {
    pub(crate) fn start(program: &Path, setup: &Setup, ids: &IdRange) -> Result<Self, StartError> {
        let failed =
            |what: &str, error: &dyn std::fmt::Display| StartError::Helper(format!("{what}: {error}"));
        let image = sealed_copy(program).map_err(|error| failed("copying the program", &error))?;
        let (ours, theirs) = sys::packet_pair().map_err(|error| failed("making its socket", &error))?;
        let mut process = Command::new(format!("/proc/self/fd/{}", image.as_raw_fd()))
            .arg0(OUTSIDE)
            .env_clear()
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            .spawn()
            .map_err(|error| failed("starting it", &error))?;
        let channel = Channel::new(ours);
        let started = Self::introduce(&channel, &process, setup, ids);
        if let Err(error) = started {
            let _ = process.kill();
            let _ = process.wait();
            return Err(error);
        }
        Ok(Self { channel: Mutex::new(Some(channel)), process: Mutex::new(process) })
    }

    fn introduce(channel: &Channel, process: &Child, setup: &Setup, ids: &IdRange) -> Result<(), StartError> {
        let failed = |error: &dyn std::fmt::Display| StartError::Helper(error.to_string());
        let words = setup.words();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        channel.send(&words, &[]).map_err(|error| failed(&error))?;
        loop {
            let answer = channel.receive().map_err(|error| failed(&error))?;
            let answer = answer.ok_or_else(|| {
                StartError::Helper("it ended while starting; its last words are above".into())
            })?;
            match answer.words.first().map(String::as_str) {
                Some("map") => {
                    ids.write_maps(process.id())
                        .map_err(|error| StartError::UserNamespace(error.to_string()))?;
                    channel.send(&["mapped"], &[]).map_err(|error| failed(&error))?;
                }
                Some("ready") => return Ok(()),
                _ => return Err(StartError::from_step(answer.words.get(1).map_or("", String::as_str))),
            }
        }
    }

    /// A new sandbox over `volume`; gives a descriptor of its PID 1.
    pub(crate) fn make_sandbox(
        &self,
        volume: &str,
        tmp_bytes: u64,
        ids: Option<SandboxIdPair>,
        groups: &[OwnedFd],
    ) -> Result<OwnedFd, HelperError> {
        let mut words = vec!["sandbox".to_owned(), volume.to_owned(), tmp_bytes.to_string()];
        if let Some(ids) = ids {
            words.extend([ids.init.to_string(), ids.user.to_string()]);
        }
        let groups: Vec<BorrowedFd<'_>> = groups.iter().map(AsFd::as_fd).collect();
        self.request_one(&words, &groups)
    }

    /// Sockets inside the network namespace of the sandbox whose PID 1 is `init`, in the order asked for.
    pub(crate) fn open_in_sandbox(
        &self,
        init: BorrowedFd<'_>,
        openings: &[Opening],
    ) -> Result<Vec<OwnedFd>, HelperError> {
        let words = ["open".to_owned()].into_iter().chain(openings.iter().map(ToString::to_string));
        self.request(&words.collect::<Vec<_>>(), &[init])
    }

    /// A zygote with `control` as its descriptor 3.
    pub(crate) fn start_zygote(
        &self,
        control: BorrowedFd<'_>,
        arguments: &[&str],
        environment: &[&str],
    ) -> Result<OwnedFd, HelperError> {
        let mut words = vec!["zygote".to_owned(), arguments.len().to_string()];
        words.extend(arguments.iter().chain(environment).map(|word| (*word).to_owned()));
        self.request_one(&words, &[control])
    }

    /// For what gives one descriptor, of a process.
    fn request_one(&self, words: &[String], fds: &[BorrowedFd<'_>]) -> Result<OwnedFd, HelperError> {
        let made = self.request(words, fds)?.into_iter().next();
        made.ok_or_else(|| HelperError::Refused("no descriptor came with the answer".to_owned()))
    }

    fn request(&self, words: &[String], fds: &[BorrowedFd<'_>]) -> Result<Vec<OwnedFd>, HelperError> {
        let guard = self.channel.lock().unwrap_or_else(PoisonError::into_inner);
        let channel = guard.as_ref().ok_or(HelperError::Gone)?;
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        channel.send(&words, fds)?;
        let Message { words, fds } = channel.receive()?.ok_or(HelperError::Gone)?;
        match words.first().map(String::as_str) {
            Some("made") => Ok(fds),
            _ => Err(HelperError::Refused(words.get(1).cloned().unwrap_or_default())),
        }
    }

    pub(crate) fn is_running(&self) -> bool {
        let mut process = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        matches!(process.try_wait(), Ok(None))
    }

    /// Ends everything and waits until it has.
    pub(crate) fn stop(&self) {
        // The helper ends when it sees its socket closed, and the kernel ends its PID namespace with it.
        drop(self.channel.lock().unwrap_or_else(PoisonError::into_inner).take());
        let _ = self.process.lock().unwrap_or_else(PoisonError::into_inner).wait();
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The program as an anonymous file that nobody can write to: the helper, which runs under an id that may
/// not even read the original, starts from it, and nothing inside can reach the file on disk.
fn sealed_copy(program: &Path) -> io::Result<OwnedFd> {
    let mut program = fs::File::open(program)?;
    sealed("sandgate", |copy| io::copy(&mut program, copy).map(drop))
}

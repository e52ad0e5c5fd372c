//! The agent: one process inside each sandbox that runs commands, moves files, watches folders and reaches ports
//! for the server. It is confined like the code beside it and has no more rights, so whatever is asked of it can
//! lead nowhere that code could not go.
//!
//! One thread and a loop, because a thread for each operation would use up the processes a sandbox may have; what
//! may take long on a disk runs on a few threads that come and go.

mod connection;
mod files;
mod operations;
mod ports;
mod processes;
mod registered;
mod terminal;
mod watches;

use std::io;
use std::os::fd::{AsFd, FromRawFd, OwnedFd};
use std::process::ExitCode;
use std::rc::Rc;
use std::time::Duration;

use sandgate_agent::protocol::{CHANNEL, MAX_OPERATIONS, OPERATION, READY};
use sandgate_jail::sys;
use tokio::io::Interest;
use tokio::runtime::Builder;
use tokio::sync::Semaphore;
use tokio::task::LocalSet;

use connection::stream;
use operations::serve_one;
use watches::Watches;

/// Threads for what waits on a disk, and how long an idle one stays.
const DISK_THREADS: usize = 4;
const THREAD_STAYS: Duration = Duration::from_secs(1);

fn main() -> ExitCode {
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = sys::write_all(2, format!("sandgate agent: {error}\n").as_bytes());
            ExitCode::from(70)
        }
    }
}

fn serve() -> Result<(), Box<dyn std::error::Error>> {
    // Commands run as the same user: they must not read its memory or take its descriptors.
    sys::set_dumpable(false)?;
    // A file that grows past its limit is an error to be told, not the end.
    sys::ignore_signal(libc::SIGXFSZ);
    // SAFETY: whoever started this program put the channel there, and nothing else in it has that number.
    let channel = unsafe { OwnedFd::from_raw_fd(CHANNEL) };
    rustix::io::fcntl_setfd(&channel, rustix::io::FdFlags::CLOEXEC)?;
    let runtime = Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(DISK_THREADS)
        .thread_keep_alive(THREAD_STAYS)
        .build()?;
    LocalSet::new().block_on(&runtime, listen(channel))?;
    // What was started goes with the sandbox or with this group, at the server's word.
    runtime.shutdown_background();
    Ok(())
}

/// Takes operations until the server's end closes.
async fn listen(channel: OwnedFd) -> Result<(), Box<dyn std::error::Error>> {
    let channel = stream(channel)?;
    sys::send_message(channel.as_fd(), READY, &[])?;
    let places = Rc::new(Semaphore::new(MAX_OPERATIONS));
    let watches = Watches::new();
    loop {
        let receive = || {
            // As long as one order is: with them come the descriptors of that order.
            let mut order = [0u8; OPERATION.len()];
            sys::receive_message(channel.as_fd(), &mut order)
                .map_err(|error| io::Error::from_raw_os_error(error.errno().unwrap_or(libc::EIO)))
        };
        match channel.async_io(Interest::READABLE, receive).await {
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(()),
            Err(error) => return Err(error.into()),
            Ok((0, _)) => return Ok(()),
            Ok((_, fds)) => {
                let (places, watches) = (Rc::clone(&places), Rc::clone(&watches));
                tokio::task::spawn_local(async move { serve_one(fds, &places, &watches).await });
            }
        }
    }
}

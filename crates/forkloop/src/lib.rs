//! The native loop inside the zygote: waits for orders, forks, confines the child, hands it to Python.
//!
//! No Python runs in the parent between two forks, because every page it would touch becomes a private
//! copy in each child. The library is loaded by the zygote with the interpreter's lock held, and the
//! process has one thread.

mod python;
mod request;
mod reseed;
mod settle;

use std::ffi::c_int;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, OwnedFd};

use sandgate_jail::confine::{Linux, PidNamespaces, confine, plan};
use sandgate_jail::process::{self, own_pid_namespace};
use sandgate_jail::program::Program;
use sandgate_jail::{Filters, Result, StepError, sys};

use python::ForkHooks;
use request::{Become, ForkRequest};

/// Serves orders on `control` until its other end closes (-1). In each forked child it returns 0 with
/// the control socket and the read ends of the output pipes in `out`.
///
/// # Safety
/// Call with the interpreter's lock held, from its only thread; `control` is owned by the call and
/// `out` has room for three descriptors.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sandgate_serve(control: c_int, out: *mut c_int) -> c_int {
    // SAFETY: the caller gives the descriptor away.
    let control = unsafe { OwnedFd::from_raw_fd(control) };
    match serve(control) {
        Ok(Served::Closed) => -1,
        Ok(Served::Child(fds)) => {
            // SAFETY: the caller says that there is room for three.
            unsafe { out.copy_from_nonoverlapping(fds.as_ptr(), fds.len()) };
            0
        }
        Err(error) => {
            let _ = sys::write_all(2, format!("sandgate zygote: {error}\n").as_bytes());
            -1
        }
    }
}

/// Has `length` bytes at `address` refilled with random bytes in every child, and `position` set.
///
/// # Safety
/// Both addresses stay valid for the life of the process.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sandgate_reseed(
    address: *mut u8,
    length: usize,
    position: *mut c_int,
    value: c_int,
) {
    reseed::register(address, length, position, value);
}

enum Served {
    Closed,
    /// Control socket, stdout and stderr read ends; Python owns them from here.
    Child([c_int; 3]),
}

fn serve(control: OwnedFd) -> Result<Served> {
    // Everything that can be made before the first fork is: it costs once, and its pages stay shared.
    let filters = Filters::compile()?;
    let hooks = ForkHooks::find()?;
    let namespaces = PidNamespaces::remember(own_pid_namespace()?);
    sys::mask_signal(libc::SIGCHLD, true);
    let children = sys::signal_fd(libc::SIGCHLD)?;
    settle::into_large_pages();
    sys::send_message(control.as_fd(), b"ready", &[])?;
    loop {
        let [order, ended] = sys::wait_readable([control.as_fd(), children.as_fd()])?;
        if ended {
            report_ended(control.as_fd(), children.as_fd())?;
        }
        if !order {
            continue;
        }
        // On the stack, and small: a heap buffer would dirty pages that all children share.
        let mut buffer = [0u8; 512];
        let (length, fds) = match sys::receive_message(control.as_fd(), &mut buffer) {
            // An engine that was killed leaves the socket reset when it had not read everything.
            Err(error) if error.errno() == Some(libc::ECONNRESET) => return Ok(Served::Closed),
            other => other?,
        };
        if length == 0 {
            return Ok(Served::Closed);
        }
        let request = ForkRequest::parse(&buffer[..length], fds)?;
        if let Some(child) = fork_one(&control, &namespaces, &hooks, &filters, request)? {
            return Ok(child);
        }
    }
}

/// Tells the engine which children ended and how.
fn report_ended(control: BorrowedFd<'_>, children: BorrowedFd<'_>) -> Result<()> {
    // Emptied first: a child that ends while we reap raises it again.
    sys::drain(children)?;
    while let Some((pid, status)) = sys::reap_any(false) {
        sys::send_message(control, format!("exited\0{pid}\0{status}").as_bytes(), &[])?;
    }
    Ok(())
}

fn fork_one(
    control: &OwnedFd,
    namespaces: &PidNamespaces,
    hooks: &ForkHooks,
    filters: &Filters,
    request: ForkRequest,
) -> Result<Option<Served>> {
    // A sandbox that died meanwhile is the engine's to handle, not a reason to stop serving.
    if let Err(error) = namespaces.children_into(request.sandbox.as_fd()) {
        sys::send_message(control.as_fd(), format!("failed\0{error}").as_bytes(), &[])?;
        return Ok(None);
    }
    // SAFETY: one thread, which holds the interpreter's lock.
    let forked = unsafe { hooks.fork() };
    match forked {
        Ok(sys::Forked::Child) => match become_one(request, filters) {
            Ok(fds) => {
                // SAFETY: this is the child of a fork whose first half `hooks.fork` ran.
                unsafe { hooks.after_in_child() };
                Ok(Some(Served::Child(fds)))
            }
            Err(error) => die(&error),
        },
        Ok(sys::Forked::Parent { child }) => {
            namespaces.children_here()?;
            let pidfd = sys::pidfd_open(child)?;
            sys::send_message(control.as_fd(), format!("forked\0{child}").as_bytes(), &[pidfd.as_fd()])?;
            Ok(None)
        }
        Err(error) => {
            namespaces.children_here()?;
            sys::send_message(control.as_fd(), format!("failed\0{error}").as_bytes(), &[])?;
            Ok(None)
        }
    }
}

/// At this number a started program finds its control socket.
const CONTROL: c_int = 3;

/// From a copy of the zygote to a confined process with its own descriptors. Comes back only as a kernel.
fn become_one(request: ForkRequest, filters: &Filters) -> Result<[c_int; 3]> {
    sys::default_signal(libc::SIGCHLD);
    sys::mask_signal(libc::SIGCHLD, false);
    // Standard streams first, so that a later failure can be told.
    sys::duplicate_onto(request.stdout.as_fd(), 1)?;
    sys::duplicate_onto(request.stderr.as_fd(), 2)?;
    let ForkRequest { layers, limits, sandbox, control, stdout, stderr, become_what, groups } = request;
    let namespaces = process::namespaces(layers);
    let mut linux = Linux { sandbox: sandbox.as_fd(), groups, namespaces, filters };
    match become_what {
        Become::Kernel { stdout_reader, stderr_reader } => {
            let null = sys::open_null()?;
            sys::duplicate_onto(null.as_fd(), 0)?;
            let own = [control, stdout_reader, stderr_reader];
            confine(&plan(layers, limits, own.iter().map(AsRawFd::as_raw_fd).collect()), &mut linux)?;
            // After confinement: the random bytes must not depend on anything done before the fork.
            reseed::run()?;
            // Confinement closed these; closing their numbers again could hit what Python opens next.
            [null, sandbox, stdout, stderr].into_iter().for_each(std::mem::forget);
            Ok(own.map(IntoRawFd::into_raw_fd))
        }
        Become::Program { stdin, description } => {
            sys::duplicate_onto(stdin.as_fd(), 0)?;
            // The zygote's own channel was there, which is the last thing this process may keep.
            sys::duplicate_onto(control.as_fd(), CONTROL)?;
            confine(&plan(layers, limits, vec![CONTROL, description.as_raw_fd()]), &mut linux)?;
            sys::default_signals();
            match Program::read(description)?.start()? {}
        }
    }
}

fn die(error: &StepError) -> ! {
    let _ = sys::write_all(2, format!("the sandbox could not be entered: {error}\n").as_bytes());
    sys::exit_now(70)
}

//! From a request to whoever carries it out.

use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use sandgate_agent::protocol::{Failure, FailureKind, FromAgent, Request, ToAgent};
use tokio::sync::Semaphore;

use crate::connection::{Incoming, Outgoing, failure, open};
use crate::files::{self, tree};
use crate::watches::Watches;
use crate::{ports, processes};

/// One operation from its request to its end.
pub(crate) async fn serve_one(fds: Vec<OwnedFd>, places: &Semaphore, watches: &Rc<Watches>) {
    let mut fds = fds.into_iter();
    let Some(Ok((mut incoming, mut outgoing))) = fds.next().map(open) else { return };
    let input = fds.next();
    let Ok(_place) = places.try_acquire() else {
        return outgoing.fail(FailureKind::Busy, "too much is under way in this sandbox").await;
    };
    let Some(ToAgent::Request(request)) = incoming.next().await else { return };
    carry_out(*request, input, incoming, outgoing, watches).await;
}

async fn carry_out(
    request: Request,
    input: Option<OwnedFd>,
    incoming: Incoming,
    mut outgoing: Outgoing,
    watches: &Rc<Watches>,
) {
    let done = match request {
        Request::Ping => Ok(Vec::new()),
        Request::Start { program, args, env, cwd, input: kind } => {
            let what = processes::Start { program, args, env, cwd, input: kind };
            return processes::run(what, input, incoming, outgoing).await;
        }
        Request::Open { path, start, length } => {
            return files::read::send(&path, start, length, outgoing).await;
        }
        Request::Write { path } => return files::write::receive(&path, incoming, outgoing).await,
        Request::Watch { path, recursive } => {
            return watches.run(&path, recursive, incoming, outgoing).await;
        }
        Request::Connect { port } => return ports::connect(port, incoming, outgoing).await,
        Request::Answer { port, said } => return ports::answer(port, &said, incoming, outgoing).await,
        Request::Stat { path } => aside(move || tree::stat(&path)).await,
        Request::List { path, depth, most } => aside(move || tree::list(&path, depth, most)).await,
        Request::MakeDir { path } => aside(move || tree::make_dir(&path)).await,
        Request::Rename { from, to } => aside(move || tree::rename(&from, &to)).await,
        Request::Remove { path } => aside(move || tree::remove(&path).map(|()| Vec::new())).await,
        Request::SetMode { path, mode } => {
            aside(move || tree::set_mode(&path, mode).map(|()| Vec::new())).await
        }
    };
    match done {
        Ok(entries) => {
            for entry in entries {
                if outgoing.say(&FromAgent::Entry(entry)).await.is_err() {
                    return;
                }
            }
            let _ = outgoing.say(&FromAgent::Done).await;
        }
        Err(failure) => {
            let _ = outgoing.say(&FromAgent::Failed(failure)).await;
        }
    }
}

/// Where a large tree holds nobody up.
async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => Err(failure(&io::Error::other(error))),
    }
}

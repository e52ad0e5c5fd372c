//! A connection to a server that speaks HTTP, kept for the next request, and what becomes of it when it changes its
//! protocol.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;

use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::sync::oneshot;

use super::breaking::{Breaking, Cut};
use crate::denied::{NoConnection, Wanted};
use crate::meter::Ticket;
use crate::metered::Metered;
use crate::sandbox::SandboxEgress;
use crate::secrets::{Unsaid, Watched};
use crate::tunnel::{Stream, ended_by};

/// The line and the headers of one answer; also the most of its body that is held at once.
const LONGEST_HEAD: usize = 256 << 10;

/// A connection, and where it leads.
pub(crate) struct Upstream {
    pub(super) wanted: Wanted,
    pub(super) address: Option<IpAddr>,
    pub(super) sender: SendRequest<Incoming>,
    /// From then on, it may close at any time because it was not used for a while.
    pub(super) has_answered: bool,
    cut: Cut,
    /// Comes back when the connection has ended as one of HTTP.
    ticket: oneshot::Receiver<Ticket>,
}

impl Upstream {
    /// Over `stream`, which is connected to `wanted`; by TLS, verified for its name, if asked.
    pub(crate) async fn open(
        sandbox: &Arc<SandboxEgress>,
        wanted: Wanted,
        stream: TcpStream,
        mut ticket: Ticket,
        tls: bool,
    ) -> Result<Self, NoConnection> {
        let limits = sandbox.policy.now().limits;
        let stream = Breaking::new(stream);
        let cut = stream.cut();
        let stream = Metered::new(stream, Arc::clone(ticket.meter()), Arc::clone(&ticket.counts), limits);
        if !tls {
            return Self::over(sandbox, wanted, stream, ticket, cut).await;
        }
        match sandbox.tls.connect(&wanted, stream).await {
            Ok(stream) => Self::over(sandbox, wanted, stream, ticket, cut).await,
            Err(why) => {
                let why = NoConnection::Failed { to: wanted.to_string(), why };
                ticket.cut(&why);
                Err(why)
            }
        }
    }

    async fn over<S: Stream>(
        sandbox: &Arc<SandboxEgress>,
        wanted: Wanted,
        stream: S,
        mut ticket: Ticket,
        cut: Cut,
    ) -> Result<Self, NoConnection> {
        let address = ticket.address();
        let opened = http1::Builder::new()
            .preserve_header_case(true)
            .max_buf_size(LONGEST_HEAD)
            .handshake(TokioIo::new(stream))
            .await;
        let (sender, connection) = match opened {
            Ok(opened) => opened,
            Err(error) => {
                let why = NoConnection::Failed { to: wanted.to_string(), why: error.to_string() };
                return Err(ticket.refused(why));
            }
        };
        let (going, to) = (Arc::clone(sandbox), wanted.clone());
        let ending = sandbox.ending.clone();
        let (give_back, back) = oneshot::channel();
        let breaks = cut.clone();
        tokio::spawn(ending.run_until_cancelled_owned(async move {
            // Here until after it was said how it ends.
            let connection = std::pin::pin!(connection.with_upgrades());
            tokio::select! {
                biased;
                denied = going.revoked(&to, address) => {
                    breaks.set();
                    ticket.cut(&denied.into());
                }
                ended = connection => match ended {
                    // Nobody waits for it, unless the connection goes on in another protocol.
                    Ok(()) => drop(give_back.send(ticket)),
                    Err(error) => {
                        let limit = going.policy.now().limits.bytes;
                        let cause = std::error::Error::source(&error).and_then(|cause| cause.downcast_ref());
                        if let Some(cause) = cause {
                            ticket.cut(&ended_by(cause, &to, limit));
                        }
                    }
                },
            }
        }));
        Ok(Self { wanted, address, sender, has_answered: false, cut, ticket: back })
    }

    pub(super) fn answered(self) -> Self {
        Self { has_answered: true, ..self }
    }

    /// After a change of protocol, bytes pass as they are. It is still one of the sandbox's connections, with its
    /// place among them, and ends when the policy does not allow it any more.
    pub(super) fn join(
        self,
        sandbox: &Arc<SandboxEgress>,
        (ours, inside): (OnUpgrade, Cut),
        theirs: OnUpgrade,
        unsaid: Arc<Unsaid>,
    ) {
        let Self { wanted, address, ticket, cut: outside, .. } = self;
        let (ending, sandbox) = (sandbox.ending.clone(), Arc::clone(sandbox));
        tokio::spawn(ending.run_until_cancelled_owned(async move {
            let (Ok(ours), Ok(theirs), Ok(mut ticket)) = tokio::join!(ours, theirs, ticket) else { return };
            let (mut ours, mut theirs) = (TokioIo::new(ours), Watched::new(TokioIo::new(theirs), &unsaid));
            let cut = tokio::select! {
                biased;
                denied = sandbox.revoked(&wanted, address) => Some(denied.into()),
                ended = tokio::io::copy_bidirectional(&mut ours, &mut theirs) => {
                    ended.err().map(|error| changed_ended_by(&error, &wanted, &sandbox))
                }
            };
            if let Some(why) = cut {
                ticket.cut(&why);
                inside.set();
                outside.set();
            }
        }));
    }
}

fn changed_ended_by(error: &io::Error, wanted: &Wanted, sandbox: &SandboxEgress) -> NoConnection {
    match error.kind() {
        // What was found in it is in the error's words.
        io::ErrorKind::PermissionDenied => {
            NoConnection::Failed { to: wanted.to_string(), why: error.to_string() }
        }
        _ => ended_by(error, wanted, sandbox.policy.now().limits.bytes),
    }
}

//! The name server of a sandbox. It asks nobody: an allowed name gets a made-up address, and is looked up only when
//! a connection to it is made. So no question, whatever is written in its name, leaves the host.

use std::sync::Arc;
use std::time::Duration;

use sandgate_core::network::HostName;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};

use super::message::{NO_ERROR, NO_SUCH_NAME, Question, SERVER_FAILURE, TYPE_A, parse_question};
use crate::sandbox::SandboxEgress;

/// Long enough that a program does not ask all the time, short enough for a policy that changes.
const TTL: u32 = 30;
const LONGEST_QUESTION: usize = 1024;
const PATIENCE: Duration = Duration::from_secs(10);
/// One connection, however busy: who has more questions opens another.
const LONGEST: Duration = Duration::from_secs(60);

pub(crate) async fn serve_udp(sandbox: Arc<SandboxEgress>, socket: UdpSocket) {
    let mut buffer = vec![0; LONGEST_QUESTION];
    loop {
        match socket.recv_from(&mut buffer).await {
            Ok((length, from)) => {
                sandbox.question_turn().await;
                if let Some(answer) = answer(&sandbox, &buffer[..length]) {
                    // Whoever asks and does not wait for the answer has none.
                    let _ = socket.send_to(&answer, from).await;
                }
            }
            // An answer that nobody waited for comes back as an error of the next call.
            Err(_) => tokio::time::sleep(Duration::from_millis(1)).await,
        }
    }
}

pub(crate) async fn serve_tcp(sandbox: Arc<SandboxEgress>, listener: TcpListener) {
    sandbox
        .clone()
        .accept(listener, move |stream| {
            let sandbox = Arc::clone(&sandbox);
            async move {
                let _ = tokio::time::timeout(LONGEST, converse(&sandbox, stream)).await;
            }
        })
        .await;
}

async fn converse(sandbox: &Arc<SandboxEgress>, mut stream: TcpStream) -> std::io::Result<()> {
    loop {
        let length = tokio::time::timeout(PATIENCE, stream.read_u16()).await??;
        let mut question = vec![0; usize::from(length)];
        if question.len() > LONGEST_QUESTION {
            return Ok(());
        }
        tokio::time::timeout(PATIENCE, stream.read_exact(&mut question)).await??;
        sandbox.question_turn().await;
        let Some(answer) = answer(sandbox, &question) else { return Ok(()) };
        stream.write_u16(u16::try_from(answer.len()).map_err(std::io::Error::other)?).await?;
        stream.write_all(&answer).await?;
    }
}

fn answer(sandbox: &SandboxEgress, bytes: &[u8]) -> Option<Vec<u8>> {
    let question = parse_question(bytes)?;
    if !question.is_for_addresses() {
        return Some(question.answer(SERVER_FAILURE, None, 0, None));
    }
    Some(match allowed_name(sandbox, &question) {
        Ok(name) if question.kind == TYPE_A => {
            question.answer(NO_ERROR, Some(sandbox.names.address_of(&name)), TTL, None)
        }
        // The name exists, but has nothing of this kind: programs go on with its IPv4 address.
        Ok(_) => question.answer(NO_ERROR, None, 0, None),
        Err(why) => question.answer(NO_SUCH_NAME, None, 0, Some(&why)),
    })
}

fn allowed_name(sandbox: &SandboxEgress, question: &Question) -> Result<HostName, String> {
    let refused = |why: String| {
        sandbox.refused_question(&question.name, &why);
        why
    };
    let name: HostName = question.name.parse().map_err(|error| refused(format!("{error}")))?;
    match sandbox.may_resolve(&name) {
        Ok(()) => Ok(name),
        Err(denied) => Err(refused(denied.to_string())),
    }
}

//! Waiting for what an agent answers: as long as it takes, but not on one that is not there any more.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use sandgate_agent::protocol::{FromAgent, Request, ToAgent};
use sandgate_core::{BackendError, Result};

use super::connection::Connection;
use super::running::Agent;
use crate::sandbox::EngineSandbox;

/// After so long it is asked whether it is there at all, and has as long for an answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// One operation under way.
#[derive(Debug)]
pub(super) struct Operation {
    pub(super) connection: Connection,
    agent: Arc<Agent>,
}

impl Operation {
    pub(super) async fn begin(sandbox: &EngineSandbox, request: Request) -> Result<Self> {
        let agent = sandbox.agent().await?;
        let (connection, _) = agent.ask(request, false).await?;
        Ok(Self { connection, agent })
    }

    /// The next thing it says.
    pub(super) async fn answer(&mut self, sandbox: &EngineSandbox) -> Result<FromAgent> {
        let said = patiently(sandbox, &self.agent, self.connection.next()).await?;
        self.said(said)
    }

    pub(super) async fn only_answer(&mut self, sandbox: &EngineSandbox) -> Result<FromAgent> {
        let said = patiently(sandbox, &self.agent, self.connection.only_frame()).await?;
        self.said(said)
    }

    /// Waits while it does not take it.
    pub(super) async fn say(&mut self, sandbox: &EngineSandbox, what: &ToAgent) -> Result<()> {
        let told = patiently(sandbox, &self.agent, self.connection.say(what)).await?;
        told.map_err(|_| self.agent.lost())
    }

    fn said(&self, said: io::Result<Option<FromAgent>>) -> Result<FromAgent> {
        match said {
            Ok(Some(said)) => Ok(said),
            Ok(None) => Err(self.agent.lost()),
            Err(error) => Err(BackendError::Engine(error.to_string())),
        }
    }
}

pub(super) async fn patiently<T>(
    sandbox: &EngineSandbox,
    agent: &Arc<Agent>,
    answer: impl Future<Output = T>,
) -> Result<T> {
    tokio::pin!(answer);
    loop {
        let stood_still = sandbox.stood_still();
        tokio::select! {
            biased;
            answer = &mut answer => return Ok(answer),
            () = agent.gone.cancelled() => return Err(agent.lost()),
            () = tokio::time::sleep(PATIENCE) => {
                if !is_there(agent).await && sandbox.stood_still() == stood_still {
                    agent.end(
                        "the process that serves commands and files in the sandbox did not answer and was ended"
                    ).await;
                    return Err(agent.lost());
                }
            }
        }
    }
}

/// A large tree takes long to list or remove; one that was stopped by code inside takes for ever.
async fn is_there(agent: &Arc<Agent>) -> bool {
    let asked = async {
        let (mut connection, _) = agent.ask(Request::Ping, false).await.ok()?;
        connection.next().await.ok().flatten()
    };
    matches!(tokio::time::timeout(PATIENCE, asked).await, Ok(Some(FromAgent::Done | FromAgent::Failed(_))))
}

pub(super) fn out_of_turn() -> BackendError {
    BackendError::Engine("the agent of a sandbox spoke out of turn".into())
}

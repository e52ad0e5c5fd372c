//! Who is measured: the way to the model without anything in between, through the gate, through LiteLLM.

use std::net::SocketAddr;

use anyhow::Result;

use super::client::Client;
use super::server::Server;
use super::{litellm, mock, server};
use crate::ground::Ground;
use crate::say::say;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    Direct,
    Gate,
    LiteLlm,
}

impl Subject {
    pub(super) const ALL: [Self; 3] = [Self::Direct, Self::Gate, Self::LiteLlm];

    /// As in the names of series.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Gate => "gate",
            Self::LiteLlm => "litellm",
        }
    }
}

#[derive(Debug)]
pub(super) struct Stage {
    mock: SocketAddr,
    pub(super) gate: Server,
    /// Or why it is not there.
    pub(super) litellm: Result<Server, String>,
}

impl Stage {
    pub(super) async fn set(ground: &Ground) -> Result<Self> {
        let mock = mock::start()?;
        say("starting the gate");
        let settings = format!("pool: 8\nupstream: {{url: 'http://{mock}/v1', api: responses}}\n");
        let gate = server::sandgate(ground, "bench-gate", &settings).await?;
        say("starting LiteLLM");
        let litellm = litellm::start(ground, mock).await.map_err(|error| {
            let text = format!("{error:#}");
            say(&format!("LiteLLM is not measured: {text}"));
            text
        });
        Ok(Self { mock, gate, litellm })
    }

    /// Those that are there, another one first each time, so that none always follows the same other.
    pub(super) fn subjects(&self, round: usize) -> impl Iterator<Item = Subject> {
        let all = (0..Subject::ALL.len()).map(move |at| Subject::ALL[(round + at) % Subject::ALL.len()]);
        let has_litellm = self.litellm.is_ok();
        all.filter(move |subject| has_litellm || *subject != Subject::LiteLlm)
    }

    pub(super) fn client(&self, subject: Subject) -> Client {
        match (subject, &self.litellm) {
            (Subject::Gate, _) => Client::new(self.gate.address, "sk-bench"),
            (Subject::LiteLlm, Ok(server)) => Client::new(server.address, litellm::KEY),
            _ => Client::new(self.mock, "sk-bench"),
        }
    }

    /// The process that is measured; none for the direct way.
    pub(super) fn server(&self, subject: Subject) -> Option<&Server> {
        match subject {
            Subject::Direct => None,
            Subject::Gate => Some(&self.gate),
            Subject::LiteLlm => self.litellm.as_ref().ok(),
        }
    }
}

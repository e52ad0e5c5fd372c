//! Whether code may run: asked of rules, then of a webhook, then of a person, before anything starts.

mod expression;
mod facts;
mod held;
mod imports;
mod judging;
mod policy;
mod question;
mod rule;
mod webhook;

use std::sync::Arc;
use std::time::Duration;

use sandgate_store::Store;

use crate::live::Live;
use held::{Board, PersonSaid};
use judging::{Judging, not_judged};
use policy::Next;
use webhook::Answer;

pub use facts::{ContainerFacts, Facts, KeyFacts};
pub use held::{CannotDecide, Held, HeldEnd};
pub use policy::Policy;
pub use question::{DecidedBy, Decider, Denial, Permission, Question, Verdict};
pub use rule::{BadExpression, Rule, Stance};
pub use webhook::{InvalidWebhook, Webhook, WebhookWhen};

/// Of a reason that somebody gave, how much is passed on.
const LONGEST_REASON: usize = 1000;

/// Cheap to clone; clones decide by the same policy.
#[derive(Clone, Debug)]
pub struct Approvals(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    policy: Live<Policy>,
    board: Board,
    judging: Judging,
    /// Where keys have their names; None: nobody asks for them.
    store: Option<Store>,
}

impl Approvals {
    /// Nothing is asked, and all code runs.
    #[must_use]
    pub fn none() -> Self {
        Self::made(Policy::default(), None)
    }

    #[must_use]
    pub fn new(policy: Policy, store: Store) -> Self {
        Self::made(policy, Some(store))
    }

    fn made(policy: Policy, store: Option<Store>) -> Self {
        Self(Arc::new(Inner {
            policy: Live::new(policy),
            board: Board::default(),
            judging: Judging::default(),
            store,
        }))
    }

    /// Exchanges the policy; what has been asked by the old one is decided by the old one.
    pub fn replace(&self, policy: Policy) {
        self.0.policy.replace(policy);
    }

    /// Returns once somebody has decided. Dropping the future takes the question back.
    pub async fn decide(&self, question: &Question<'_>) -> Verdict {
        let policy = self.0.policy.get();
        if policy.is_empty() {
            return Verdict::Allowed(Permission { by: DecidedBy::Nobody, reason: None });
        }
        let verdict = match self.ask(&policy, question).await {
            Ok(verdict) => verdict,
            Err(denial) => Verdict::Denied(denial),
        };
        let (request, container) = (question.request_id, question.container);
        match &verdict {
            Verdict::Allowed(Permission { by, .. }) => {
                tracing::debug!(request, %container, %by, "code was approved");
            }
            Verdict::Denied(Denial { by, reason }) => {
                tracing::info!(request, %container, %by, reason, "code was denied");
            }
        }
        verdict
    }

    async fn ask(&self, policy: &Arc<Policy>, question: &Question<'_>) -> Result<Verdict, Denial> {
        let facts = Facts::new(question, self.key_name(question.key).await?);
        let (facts, next) = self.0.judging.judge(question.owner, Arc::clone(policy), facts).await?;
        match next {
            Next::Decided(verdict) => Ok(verdict),
            Next::Person(by, reason) => self.ask_person(policy, facts, by, reason).await,
            Next::Webhook(by, reason) => {
                let Some(hook) = &policy.webhook else {
                    return self.ask_person(policy, facts, by, reason).await;
                };
                let by = DecidedBy::Webhook;
                match hook.ask(&facts).await {
                    Ok(Answer::Approve(reason)) => Ok(Verdict::Allowed(Permission { by, reason })),
                    Ok(Answer::Deny(said)) => {
                        let reason = said.or(reason);
                        Err(Denial::new(
                            by,
                            reason.unwrap_or_else(|| "the approval hook denied it".to_owned()),
                        ))
                    }
                    Ok(Answer::Ask(said)) => self.ask_person(policy, facts, by, said.or(reason)).await,
                    Err(problem) => Err(Denial::new(by, problem.to_string())),
                }
            }
        }
    }

    async fn ask_person(
        &self,
        policy: &Policy,
        facts: Arc<Facts>,
        by: DecidedBy,
        reason: Option<String>,
    ) -> Result<Verdict, Denial> {
        let denied = |by, reason: String| Denial::new(DecidedBy::Person(by), reason);
        tracing::info!(approval = facts.id, request = facts.request_id, %by, "code waits for a person");
        let asked = self.0.board.ask(facts, by, reason, policy.most_held, policy.person).await;
        match asked.map_err(|problem| denied(None, problem.to_string()))? {
            Some(PersonSaid { approved: true, by, reason }) => {
                Ok(Verdict::Allowed(Permission { by: DecidedBy::Person(Some(by)), reason }))
            }
            Some(PersonSaid { approved: false, by, reason }) => {
                Err(denied(Some(by), reason.unwrap_or_else(|| "a person denied it".to_owned())))
            }
            None => {
                let seconds = policy.person.as_secs();
                Err(denied(None, format!("nobody decided within {seconds} seconds")))
            }
        }
    }

    async fn key_name(&self, id: Option<&str>) -> Result<Option<String>, Denial> {
        let (Some(id), Some(store)) = (id, &self.0.store) else { return Ok(None) };
        match store.key(id).await {
            Ok(key) => Ok(Some(key.name)),
            Err(error) => {
                tracing::error!(key = id, %error, "the name of a key could not be read: the code is denied");
                Err(not_judged())
            }
        }
    }

    /// How many wait for a person.
    #[must_use]
    pub fn count_held(&self) -> usize {
        self.0.board.count()
    }

    /// All that wait for a person, oldest first, and the version of that list.
    #[must_use]
    pub fn held(&self) -> (Vec<Held>, u64) {
        self.0.board.list()
    }

    /// One that waits.
    #[must_use]
    pub fn held_one(&self, id: &str) -> Option<Held> {
        self.0.board.get(id)
    }

    /// The same, after a change since `version` (None: as soon as anything waits), or after `time`.
    pub async fn held_after(&self, version: Option<u64>, time: Duration) -> (Vec<Held>, u64) {
        let _ = tokio::time::timeout(time, self.0.board.change_after(version)).await;
        self.held()
    }

    /// A person's word on one that waits.
    pub fn answer(
        &self,
        id: &str,
        by: Decider,
        approved: bool,
        reason: Option<&str>,
    ) -> Result<Held, CannotDecide> {
        self.0.board.decide(id, PersonSaid { by, approved, reason: reason.and_then(clipped) })
    }
}

/// A reason as it is passed on: not endless, and None when it says nothing.
fn clipped(reason: &str) -> Option<String> {
    let reason: String = reason.trim().chars().take(LONGEST_REASON).collect();
    (!reason.is_empty()).then_some(reason)
}

#[cfg(test)]
mod tests;

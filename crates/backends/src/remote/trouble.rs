//! Failures on the way to one sandbox. Code inside can cause every one of them, so they say nothing about the
//! provider: that is asked itself, and what it answers decides what becomes of the sandbox.

use std::sync::atomic::Ordering;

use sandgate_core::Result;

use super::sandbox::{At, Inner};
use crate::{PlaceState, ProviderError, ProviderResult};

/// A sandbox that fails so often in a row, while its provider is well, is given up.
const MOST_STRIKES: u32 = 3;

impl Inner {
    /// Before the sandbox is asked for anything: one that failed is left alone while its provider is known to be
    /// down. One that answers is used, whatever else is down there.
    pub(super) fn check_reach(&self) -> Result<()> {
        if self.strikes.load(Ordering::Acquire) == 0 { Ok(()) } else { self.shared.check_open() }
    }

    /// What the sandbox answered, or why it did not. [`ProviderError::Lost`] where it is given up.
    pub(super) async fn heard<T>(&self, at: &At, answer: ProviderResult<T>) -> ProviderResult<T> {
        match answer {
            Err(error) if error.is_outage() => Err(self.why(at, error).await),
            // Nobody was asked.
            Err(ProviderError::Unsupported(_)) => answer,
            answer => {
                self.strikes.store(0, Ordering::Release);
                answer
            }
        }
    }

    /// The same, in the words of all backends.
    pub(super) async fn told<T>(&self, at: &At, answer: ProviderResult<T>) -> Result<T> {
        match self.heard(at, answer).await {
            Err(ProviderError::Lost) => {
                self.lose(at.generation).await;
                Err(self.shared.error(ProviderError::Lost))
            }
            answer => answer.map_err(|error| self.shared.error(error)),
        }
    }

    /// Whether its provider says that it has it no more.
    pub(super) async fn is_gone(&self, at: &At) -> bool {
        let asked = self.shared.try_ask(self.shared.provider.state(at.place.id())).await;
        matches!(asked, Ok(Err(ProviderError::Lost)))
    }

    async fn why(&self, at: &At, error: ProviderError) -> ProviderError {
        let strikes = self.strikes.fetch_add(1, Ordering::AcqRel).saturating_add(1);
        let provider = &self.shared.provider;
        match self.shared.try_ask(provider.state(at.place.id())).await {
            Ok(Err(ProviderError::Lost)) => ProviderError::Lost,
            Ok(Ok(state)) if state == PlaceState::Broken || strikes >= MOST_STRIKES => {
                tracing::warn!(sandbox = %self.id, %error, "a remote sandbox does not answer, and is given up");
                self.abandon(at).await;
                self.strikes.store(0, Ordering::Release);
                ProviderError::Lost
            }
            _ => error,
        }
    }
}

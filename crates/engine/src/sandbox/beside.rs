//! What the agent and its processes need of their sandbox.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use sandgate_core::{BackendError, Limits, Result, SandboxPath};
use sandgate_jail::program::Program;
use tokio_util::sync::CancellationToken;

use super::EngineSandbox;
use crate::agent::Agent;
use crate::files::walk::DiskUsage;
use crate::kernel::Place;
use crate::plain_start::{PlainProcess, Streams};
use crate::zygote::ForkOrder;

impl EngineSandbox {
    /// The agent, started when there is none.
    pub(crate) async fn agent(&self) -> Result<Arc<Agent>> {
        if self.is_stopped() {
            return Err(BackendError::NoSuchSandbox(self.volume.id.clone()));
        }
        if self.is_paused_now() {
            return Err(BackendError::Paused);
        }
        self.agent.get(self).await
    }

    /// Starts a program beside the contexts, in a group of its own.
    pub(crate) async fn start_program(
        &self,
        group: &str,
        program: &Program,
        streams: Streams,
    ) -> Result<PlainProcess> {
        let sandbox = self.volume.id.to_string();
        let groups = match &self.shared.cgroups {
            Some(cgroups) => cgroups.make_context(&sandbox, group),
            None => Ok(Vec::new()),
        };
        let groups = groups.map_err(|error| BackendError::Engine(error.to_string()))?;
        let order = ForkOrder::new(self.shared.layers, &self.spec.limits, self.shared.cgroups.is_some());
        let place = Place { cgroups: self.shared.cgroups.clone(), sandbox, context: group.to_owned() };
        let zygote = self.shared.zygotes.for_programs(&self.shared).await?;
        PlainProcess::start(zygote, &self.init, order, place, groups, program, streams).await
    }

    /// What every program finds in its environment, and what this one was given on top.
    pub(crate) fn environment_with(&self, more: &[(String, String)]) -> Vec<(String, String)> {
        let later = self.later_env.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let all = later.into_iter().chain(self.env.iter().cloned()).chain(more.iter().cloned());
        all.collect::<BTreeMap<String, String>>().into_iter().collect()
    }

    /// The environment with these variables of a network, where it has not its own.
    pub(super) fn environment_under(&self, network: &[(String, String)]) -> Cow<'_, [(String, String)]> {
        if network.is_empty() {
            return Cow::Borrowed(&self.env);
        }
        let all: BTreeMap<_, _> = network.iter().chain(&self.env).cloned().collect();
        Cow::Owned(all.into_iter().collect())
    }

    /// Variables of the network as it is now that are not among `known`, nor asked for otherwise.
    pub(super) fn network_since(&self, known: &[(String, String)]) -> Vec<(String, String)> {
        let later = self.later_env.lock().unwrap_or_else(PoisonError::into_inner);
        let is_own = |name: &str| self.env.iter().any(|(own, _)| own == name);
        later.iter().filter(|one| !known.contains(one) && !is_own(&one.0)).cloned().collect()
    }

    /// Beside everything else, and waited for when the engine ends.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.shared.tasks.spawn(work);
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    pub(crate) fn stopped_token(&self) -> &CancellationToken {
        &self.end
    }

    pub(crate) fn is_paused_now(&self) -> bool {
        self.paused.load(Ordering::Acquire)
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.spec.limits
    }

    /// How many processes the kernel has killed for memory.
    pub(crate) fn killed_count(&self) -> u64 {
        self.group_events().killed_for_memory
    }

    /// What was changed through the agent is nothing that an execution did.
    pub(crate) fn note_change_from_outside(&self) {
        self.files.set_changed();
    }

    pub(crate) async fn disk_used(&self) -> Option<DiskUsage> {
        self.disk_with_removed().await.ok()
    }

    pub(crate) fn is_over(&self, usage: DiskUsage) -> bool {
        self.over_limit(usage)
    }

    /// From outside, because programs inside may not on every disk. False: the disk keeps none.
    pub(crate) async fn set_attributes(
        &self,
        path: &SandboxPath,
        attributes: &BTreeMap<String, String>,
    ) -> Result<bool> {
        self.files.set_attributes(path, attributes).await
    }
}

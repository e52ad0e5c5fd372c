//! The record of one approval: who was asked, what was said, how long it took.

use std::time::Duration;

use super::Call;
use super::call::clipped;
use super::entry::Entry;
use super::kept_text::KeptText;
use crate::approvals::{DecidedBy, Verdict};

/// An answer that takes longer is on record while it is waited for.
const SOON: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub(crate) struct ApprovalEntry {
    entry: Entry,
    call: Call,
}

impl ApprovalEntry {
    /// Waits for the decision. Dropped before, because the client left, it is recorded as cancelled.
    pub(crate) async fn over(
        call: &Call,
        container: &str,
        code: &str,
        decision: impl Future<Output = Verdict>,
    ) -> Verdict {
        let mut approval = Self { entry: Entry::new(call, "approval"), call: call.clone() };
        approval.entry.set_container(container);
        let mut decision = std::pin::pin!(decision);
        let verdict = match tokio::time::timeout(SOON, decision.as_mut()).await {
            Ok(verdict) => verdict,
            Err(_) => {
                approval.entry.begin();
                decision.await
            }
        };
        approval.end(&verdict, code);
        verdict
    }

    fn end(mut self, verdict: &Verdict, code: &str) {
        let (by, reason, status) = match verdict {
            Verdict::Allowed(permission) => (&permission.by, permission.reason.as_deref(), "allowed"),
            Verdict::Denied(denial) => (&denial.by, Some(denial.reason.as_str()), "denied"),
        };
        if *by == DecidedBy::Nobody {
            return self.entry.discard();
        }
        let is_denied = status == "denied";
        self.entry.note("by", by.kind());
        self.entry.note("rule", by.rule().map(clipped));
        self.entry.note("person", by.person());
        self.entry.note("verdict", status);
        self.entry.note("reason", reason.and_then(|reason| KeptText::whole(reason).into_value()));
        self.entry.note("code_bytes", code.len());
        // Nothing ran, so no other record has it.
        if is_denied && self.call.holds_code() {
            self.entry.note("code", KeptText::whole(code).into_value());
        }
        self.call.add_approval(self.entry.began().elapsed(), is_denied);
        self.entry.end(status);
    }
}

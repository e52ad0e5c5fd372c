//! The question before code runs, as it is watched: who decided, what, and how long it took.

use opentelemetry::KeyValue;
use opentelemetry::trace::SpanKind;

use super::outside::{Outside, Place};
use super::span::Span;
use super::{Metrics, Watch};
use crate::approvals::{DecidedBy, Verdict};

/// Dropped before a decision, it was asked for nobody.
#[derive(Debug)]
pub(crate) struct ApprovalWatch {
    watch: Watch,
    span: Span,
    _waits: Outside,
}

impl ApprovalWatch {
    pub(super) fn begin(watch: &Watch, span: Span) -> Self {
        Self { watch: watch.clone(), span, _waits: watch.outside(Place::Approval) }
    }

    pub(super) fn span(metrics: &Metrics, parent: &Span) -> Span {
        parent.child(metrics.0.tracer.as_ref(), "approval".to_owned(), SpanKind::Internal, Vec::new())
    }

    /// Where nobody is asked, there is nothing to tell.
    pub(crate) fn decided(self, verdict: &Verdict) {
        let (by, is_allowed) = match verdict {
            Verdict::Allowed(permission) => (&permission.by, true),
            Verdict::Denied(denial) => (&denial.by, false),
        };
        if *by == DecidedBy::Nobody {
            return;
        }
        if let Some(metrics) = self.watch.metrics() {
            metrics.decided(by.kind(), is_allowed);
        }
        self.span.set(|| {
            vec![
                KeyValue::new("sandgate.approval.by", by.kind()),
                KeyValue::new("sandgate.approval.allowed", is_allowed),
            ]
        });
        self.span.end(None);
    }
}

//! One execution as it is watched: what limits it hit, how it ended, how long it took.

use std::borrow::Cow;
use std::time::Instant;

use opentelemetry::KeyValue;
use opentelemetry::trace::SpanKind;
use sandgate_core::{Ending, Event, LimitKind, Note};

use super::outside::{Outside, Place};
use super::span::Span;
use super::{Metrics, Watch};

/// Where code is to run.
#[derive(Clone, Copy, Debug)]
pub struct Whereabouts<'a> {
    /// Of the container.
    pub id: &'a str,
    /// As the configuration calls it.
    pub backend: &'a str,
}

/// Dropped before the execution's end, it counts as one that was abandoned.
#[derive(Debug)]
pub struct ExecutionWatch(Option<Watched>);

#[derive(Debug)]
struct Watched {
    metrics: Metrics,
    door: &'static str,
    backend: String,
    began: Instant,
    span: Span,
    ending: &'static str,
    _waits: Outside,
}

impl ExecutionWatch {
    pub(super) fn unwatched() -> Self {
        Self(None)
    }

    pub(super) fn begin(
        watch: &Watch,
        metrics: &Metrics,
        parent: &Span,
        door: &'static str,
        container: &Whereabouts<'_>,
    ) -> Self {
        let attributes = vec![
            KeyValue::new("gen_ai.operation.name", "execute_tool"),
            KeyValue::new("gen_ai.tool.name", "code_interpreter"),
            KeyValue::new("gen_ai.tool.type", "extension"),
            KeyValue::new("sandgate.container.id", container.id.to_owned()),
            KeyValue::new("sandgate.backend", container.backend.to_owned()),
        ];
        let name = "execute_tool code_interpreter".to_owned();
        let span = parent.child(metrics.0.tracer.as_ref(), name, SpanKind::Internal, attributes);
        Self(Some(Watched {
            metrics: metrics.clone(),
            door,
            backend: container.backend.to_owned(),
            began: Instant::now(),
            span,
            ending: "abandoned",
            _waits: watch.outside(Place::Sandbox),
        }))
    }

    /// Sees every event of the execution go by.
    pub fn event(&mut self, event: &Event) {
        let Some(watched) = &mut self.0 else { return };
        match event {
            Event::Note { note, .. } => {
                if let Some(limit) = limit_of_note(*note) {
                    watched.metrics.limit_hit(limit);
                }
            }
            Event::Done { ending, .. } => {
                watched.ending = ending_word(*ending);
                if let Some(limit) = limit_of(*ending) {
                    watched.metrics.limit_hit(limit);
                }
            }
            _ => {}
        }
        if matches!(event, Event::Done { .. }) {
            self.0 = None;
        }
    }

    /// The sandbox could not be had, or broke off.
    pub fn fail(mut self) {
        if let Some(watched) = &mut self.0 {
            watched.ending = "failed";
        }
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let families = &self.metrics.0.families;
        families.executions.get_or_create(&[("door", self.door), ("ending", self.ending)]).inc();
        let labels =
            [("backend", Cow::Owned(std::mem::take(&mut self.backend))), ("ending", self.ending.into())];
        families.backend_executions.get_or_create(&labels).inc();
        let took = self.began.elapsed().as_secs_f64();
        families.execution_durations.get_or_create(&[("door", self.door)]).observe(took);
        self.span.set(|| vec![KeyValue::new("sandgate.execution.ending", self.ending)]);
        self.span.end((self.ending != "ok").then_some(self.ending));
    }
}

fn ending_word(ending: Ending) -> &'static str {
    match ending {
        Ending::Ok => "ok",
        Ending::Raised => "raised",
        Ending::Interrupted => "interrupted",
        Ending::TimedOut => "timed_out",
        Ending::LimitHit { .. } => "limit_hit",
        Ending::Signalled { .. } => "signalled",
        Ending::Exited { .. } => "exited",
    }
}

fn limit_of(ending: Ending) -> Option<&'static str> {
    match ending {
        Ending::TimedOut => Some("time"),
        Ending::LimitHit { limit: LimitKind::Memory } => Some("memory"),
        Ending::LimitHit { limit: LimitKind::Output } => Some("output"),
        Ending::LimitHit { limit: LimitKind::Disk } => Some("disk"),
        Ending::Ok
        | Ending::Raised
        | Ending::Interrupted
        | Ending::Signalled { .. }
        | Ending::Exited { .. } => None,
    }
}

/// Limits that code lived through.
fn limit_of_note(note: Note) -> Option<&'static str> {
    match note {
        Note::OutputTrimmed => Some("output"),
        Note::ChildKilledForMemory => Some("memory"),
        Note::ProcessesRefused => Some("processes"),
        Note::DiskFull => Some("disk"),
        Note::FreshKernel | Note::FilesTrimmed => None,
    }
}

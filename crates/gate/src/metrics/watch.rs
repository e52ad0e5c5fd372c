//! One request as it is watched: when it came, what it waited for, how it ended.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use http::HeaderMap;
use opentelemetry::KeyValue;

use super::outside::{Clock, Outside, Place};
use super::span::{Span, TRACE_HEADERS};
use super::{ApprovalWatch, ExecutionWatch, Metrics, TurnWatch, Whereabouts};

/// Cheap to clone. The default one watches nothing.
#[derive(Clone, Debug, Default)]
pub struct Watch(Option<Arc<Inner>>);

#[derive(Debug)]
struct Inner {
    metrics: Metrics,
    api: &'static str,
    began: Instant,
    clock: Arc<Clock>,
    span: Span,
    /// As the client sent them.
    trace_headers: HeaderMap,
    model: Mutex<Option<String>>,
}

/// What became of a request.
#[derive(Clone, Debug)]
pub struct RequestEnd {
    pub api: &'static str,
    pub model: Option<String>,
    pub took: Duration,
    /// The part of it that was ours.
    pub overhead: Duration,
}

impl Watch {
    /// `api`: a word of ours for what was asked.
    #[must_use]
    pub fn begin(metrics: &Metrics, api: &'static str, headers: &HeaderMap) -> Self {
        metrics.0.families.under_way.inc();
        let mut trace_headers = HeaderMap::new();
        for name in TRACE_HEADERS {
            if let Some(value) = headers.get(name) {
                trace_headers.insert(name, value.clone());
            }
        }
        Self(Some(Arc::new(Inner {
            metrics: metrics.clone(),
            api,
            began: Instant::now(),
            clock: Arc::default(),
            span: Span::root(metrics.0.tracer.as_ref(), api, headers),
            trace_headers,
            model: Mutex::default(),
        })))
    }

    /// The model that the client names.
    pub fn asks_for(&self, model: &str) {
        if let Some(inner) = &self.0 {
            *inner.model.lock().unwrap_or_else(PoisonError::into_inner) = Some(clipped(model).to_owned());
        }
    }

    /// Until what it gives is dropped, the request waits for somebody else.
    #[must_use]
    pub fn outside(&self, place: Place) -> Outside {
        Outside::begin(self.0.as_ref().map(|inner| Arc::clone(&inner.clock)), place)
    }

    /// A turn of the model begins.
    #[must_use]
    pub(crate) fn turn(&self, model: Option<&str>) -> TurnWatch {
        match &self.0 {
            Some(inner) => TurnWatch::begin(self.clone(), &inner.metrics, &inner.span, model),
            None => TurnWatch::unwatched(),
        }
    }

    /// Somebody is asked whether code may run.
    pub(crate) fn approval(&self) -> ApprovalWatch {
        let span = self.0.as_ref().map(|inner| ApprovalWatch::span(&inner.metrics, &inner.span));
        ApprovalWatch::begin(self, span.unwrap_or_default())
    }

    /// Code is about to be given to a sandbox.
    #[must_use]
    pub fn execution(&self, door: &'static str, container: &Whereabouts<'_>) -> ExecutionWatch {
        match &self.0 {
            Some(inner) => ExecutionWatch::begin(self, &inner.metrics, &inner.span, door, container),
            None => ExecutionWatch::unwatched(),
        }
    }

    /// Of the trace this request belongs to: its own span, else what the client sent.
    #[must_use]
    pub fn trace_headers(&self) -> HeaderMap {
        let Some(inner) = &self.0 else { return HeaderMap::new() };
        inner.span.trace_headers().unwrap_or_else(|| inner.trace_headers.clone())
    }

    #[must_use]
    pub fn metrics(&self) -> Option<&Metrics> {
        self.0.as_ref().map(|inner| &inner.metrics)
    }

    /// The answer is out, or nobody is left to take it. None where nothing was watched.
    pub fn end(&self, request_id: &str, status: u16, is_stream: bool) -> Option<RequestEnd> {
        let inner = self.0.as_ref()?;
        let took = inner.began.elapsed();
        let overhead = took.saturating_sub(inner.clock.sum());
        let stream = if is_stream { "true" } else { "false" };
        let families = &inner.metrics.0.families;
        let counted = [("api", inner.api), ("status", class(status)), ("stream", stream)];
        families.requests.get_or_create(&counted).inc();
        let labels = [("api", inner.api), ("stream", stream)];
        families.durations.get_or_create(&labels).observe(took.as_secs_f64());
        families.overheads.get_or_create(&labels).observe(overhead.as_secs_f64());
        families.under_way.dec();
        let model = inner.model.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(model) = &model {
            // Names of spans are few: a client may call a model what it likes.
            let label = inner.metrics.0.models.label(model);
            inner.span.rename(format!("{} {label}", inner.api));
        }
        inner.span.set(|| {
            let waited = |place| inner.clock.place(place).as_secs_f64();
            let mut attributes = vec![
                KeyValue::new("http.response.status_code", i64::from(status)),
                KeyValue::new("sandgate.request.id", request_id.to_owned()),
                KeyValue::new("sandgate.overhead_seconds", overhead.as_secs_f64()),
                KeyValue::new("sandgate.model_seconds", waited(Place::Model)),
                KeyValue::new("sandgate.sandbox_seconds", waited(Place::Sandbox)),
                KeyValue::new("sandgate.approval_seconds", waited(Place::Approval)),
            ];
            attributes.extend(model.clone().map(|model| KeyValue::new("gen_ai.request.model", model)));
            attributes
        });
        inner.span.end((status >= 500).then(|| status.to_string()).as_deref());
        Some(RequestEnd { api: inner.api, model, took, overhead })
    }
}

/// Of words that a client or an upstream chose, so much goes into attributes.
pub(super) fn clipped(text: &str) -> &str {
    &text[..text.floor_char_boundary(256)]
}

fn class(status: u16) -> &'static str {
    match status / 100 {
        1 => "1xx",
        2 => "2xx",
        3 => "3xx",
        4 => "4xx",
        _ => "5xx",
    }
}

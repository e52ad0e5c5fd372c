//! Spans, in the words of OpenTelemetry's conventions for generative AI. No code and no prompt is ever in
//! one.

use std::str::FromStr;

use http::{HeaderMap, HeaderValue};
use opentelemetry::global::BoxedTracer;
use opentelemetry::trace::{
    SpanContext, SpanId, SpanKind, Status, TraceContextExt, TraceFlags, TraceId, TraceState, Tracer,
};
use opentelemetry::{Context, KeyValue};

pub(super) const TRACE_HEADERS: [&str; 2] = ["traceparent", "tracestate"];

/// A span under way. Without a tracer there is none, and everything here does nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct Span(Option<Context>);

impl Span {
    /// Of a request: the child of whatever the client's own trace says, if it says anything.
    pub(super) fn root(tracer: Option<&BoxedTracer>, name: &str, headers: &HeaderMap) -> Self {
        let Some(tracer) = tracer else { return Self(None) };
        let parent = match remote(headers) {
            Some(remote) => Context::new().with_remote_span_context(remote),
            None => Context::new(),
        };
        Self::start(tracer, &parent, name, SpanKind::Server, Vec::new())
    }

    pub(super) fn child(
        &self,
        tracer: Option<&BoxedTracer>,
        name: String,
        kind: SpanKind,
        attributes: Vec<KeyValue>,
    ) -> Self {
        match (tracer, &self.0) {
            (Some(tracer), Some(parent)) => Self::start(tracer, parent, &name, kind, attributes),
            (None, _) | (_, None) => Self(None),
        }
    }

    fn start(
        tracer: &BoxedTracer,
        parent: &Context,
        name: &str,
        kind: SpanKind,
        attributes: Vec<KeyValue>,
    ) -> Self {
        let builder = tracer.span_builder(name.to_owned()).with_kind(kind).with_attributes(attributes);
        let span = tracer.build_with_context(builder, parent);
        Self(Some(parent.with_span(span)))
    }

    pub(super) fn rename(&self, name: String) {
        if let Some(context) = &self.0 {
            context.span().update_name(name);
        }
    }

    /// `make` is called only where somebody looks.
    pub(super) fn set(&self, make: impl FnOnce() -> Vec<KeyValue>) {
        if let Some(context) = &self.0 {
            context.span().set_attributes(make());
        }
    }

    /// `failure` becomes the `error.type`: a word of ours, or a status.
    pub(super) fn end(&self, failure: Option<&str>) {
        let Some(context) = &self.0 else { return };
        let span = context.span();
        if let Some(failure) = failure {
            span.set_attribute(KeyValue::new("error.type", failure.to_owned()));
            span.set_status(Status::error(failure.to_owned()));
        }
        span.end();
    }

    /// For whoever is asked next. None: there is no span.
    pub(super) fn trace_headers(&self) -> Option<HeaderMap> {
        let context = self.0.as_ref()?;
        let span = context.span();
        let seen = span.span_context();
        let flags = seen.trace_flags().to_u8();
        let parent = format!("00-{}-{}-{flags:02x}", seen.trace_id(), seen.span_id());
        let mut headers = HeaderMap::new();
        headers.insert("traceparent", HeaderValue::try_from(parent).ok()?);
        let state = seen.trace_state().header();
        if let Some(state) = HeaderValue::try_from(state).ok().filter(|state| !state.is_empty()) {
            headers.insert("tracestate", state);
        }
        Some(headers)
    }
}

/// What a client says of its own trace (W3C Trace Context). What does not fit the form is as good as nothing.
fn remote(headers: &HeaderMap) -> Option<SpanContext> {
    let text = headers.get("traceparent")?.to_str().ok()?.trim();
    let mut parts = text.split('-');
    let (version, trace, span, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let is_hex = |text: &str, length: usize| {
        text.len() == length && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    let fits = is_hex(version, 2) && is_hex(trace, 32) && is_hex(span, 16) && is_hex(flags, 2);
    // Later versions may say more; the first does not.
    if !fits || version == "ff" || (version == "00" && parts.next().is_some()) {
        return None;
    }
    let state = headers.get("tracestate").and_then(|state| state.to_str().ok());
    let state = state.and_then(|state| TraceState::from_str(state).ok()).unwrap_or_default();
    let flags = TraceFlags::new(u8::from_str_radix(flags, 16).ok()? & 1);
    let (trace, span) = (TraceId::from_hex(trace).ok()?, SpanId::from_hex(span).ok()?);
    let context = SpanContext::new(trace, span, flags, true, state);
    context.is_valid().then_some(context)
}

#[cfg(test)]
#[path = "span_tests.rs"]
mod tests;

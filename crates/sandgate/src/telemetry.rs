//! Traces to a collector, over OTLP/HTTP. Spans wait in a bounded queue and are sent in batches by a thread
//! of their own: a collector that cannot be reached costs spans, never a request.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use async_trait::async_trait;
use bytes::Bytes;
use http::{Request, Response, Uri};
use opentelemetry::KeyValue;
use opentelemetry::global::BoxedTracer;
use opentelemetry::trace::TracerProvider;
use opentelemetry_http::{HttpClient, HttpError};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use sandgate_gate::upstream::{Connection, ConnectionConfig, UpstreamError, body_of};
use tokio::runtime::Handle;

use crate::config::TelemetrySettings;

/// For one batch, with the connection.
const PATIENCE: Duration = Duration::from_secs(10);
/// At the end of the server, for what still waits.
const LAST_BATCH: Duration = Duration::from_secs(1);
/// Of an answer, which says nothing that is needed.
const ANSWER: usize = 64 << 10;
const NAME: &str = "sandgate";

/// What sends traces; dropping it without [`Self::end`] loses what waits.
#[derive(Debug)]
pub(crate) struct Telemetry(Option<SdkTracerProvider>);

impl Telemetry {
    /// Nothing where no collector is configured.
    pub(crate) fn start(settings: &TelemetrySettings) -> Result<Self> {
        let Some(endpoint) = &settings.traces else { return Ok(Self(None)) };
        let mut config = ConnectionConfig::new(endpoint.clone());
        (config.connect_timeout, config.read_timeout) = (PATIENCE, PATIENCE);
        let connection = Connection::new(config)
            .map_err(|_| anyhow::anyhow!("the collector's address cannot be used: {}", shown(endpoint)))?;
        let client = Collector { connection, runtime: Handle::current(), is_lost: AtomicBool::new(false) };
        let headers =
            settings.headers.iter().map(|(name, value)| (name.clone(), value.expose().to_owned())).collect();
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(client)
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(endpoint.clone())
            .with_headers(headers)
            .with_timeout(PATIENCE)
            .build()
            .context("the export of traces cannot be set up")?;
        let provider =
            SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource()).build();
        tracing::info!("traces go to {}", shown(endpoint));
        Ok(Self(Some(provider)))
    }

    pub(crate) fn tracer(&self) -> Option<BoxedTracer> {
        let provider = self.0.as_ref()?;
        Some(BoxedTracer::new(Box::new(provider.tracer(NAME))))
    }

    /// Sends what still waits, within a bound.
    pub(crate) async fn end(self) {
        let Some(provider) = self.0 else { return };
        let last = move || provider.shutdown_with_timeout(LAST_BATCH);
        // It blocks the thread that asks, and may not keep to its time.
        match tokio::time::timeout(LAST_BATCH, tokio::task::spawn_blocking(last)).await {
            Ok(Ok(Err(error))) => tracing::warn!(%error, "the last traces could not be sent"),
            Err(_) => tracing::warn!("the last traces could not be sent in time"),
            Ok(_) => {}
        }
    }
}

/// Without what may be a secret: a name and password before the host, and what is asked for.
fn shown(endpoint: &str) -> String {
    let plain = endpoint.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = plain.split_once("://").unwrap_or(("", plain));
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = host.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}{path}")
}

/// Under the name that the environment gives, else our own.
fn resource() -> Resource {
    let named = ["OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES"].into_iter().any(|variable| {
        let value = std::env::var(variable).unwrap_or_default();
        if variable == "OTEL_SERVICE_NAME" { !value.is_empty() } else { value.contains("service.name=") }
    });
    let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
    let builder = Resource::builder().with_attribute(version);
    if named { builder.build() } else { builder.with_service_name(NAME).build() }
}

/// The way to the collector: the same connections that upstreams have, driven by the server's own runtime,
/// as the thread that sends has none.
#[derive(Debug)]
struct Collector {
    connection: Connection,
    runtime: Handle,
    /// It could not be reached the last time: said once, not every few seconds.
    is_lost: AtomicBool,
}

#[async_trait]
impl HttpClient for Collector {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (mut head, body) = request.into_parts();
        // The connection's own address is the whole of it; `/v1` stands for that.
        head.uri = Uri::from_static("/v1");
        let connection = self.connection.clone();
        let sending = async move {
            let answer = connection.forward(Request::from_parts(head, body_of(body))).await?;
            let (head, body) = answer.into_parts();
            Ok(Response::from_parts(head, body.collect_up_to(ANSWER, true).await?))
        };
        let sent = self.runtime.spawn(async { tokio::time::timeout(PATIENCE, sending).await }).await;
        let answer: Result<Response<Bytes>, HttpError> = match sent {
            Ok(Ok(answer)) => answer.map_err(|error: UpstreamError| error.into()),
            Ok(Err(late)) => Err(late.into()),
            Err(lost) => Err(lost.into()),
        };
        let problem = match &answer {
            Ok(answer) if answer.status().is_success() => None,
            Ok(answer) => Some(format!("it answered with status {}", answer.status().as_u16())),
            Err(error) => Some(error.to_string()),
        };
        match (&problem, self.is_lost.swap(problem.is_some(), Ordering::Relaxed)) {
            (Some(problem), false) => {
                tracing::warn!("traces cannot be sent, and are lost until they can: {problem}");
            }
            (None, true) => tracing::info!("traces can be sent again"),
            (Some(_), true) | (None, false) => {}
        }
        answer
    }
}

#[cfg(test)]
#[path = "telemetry_tests.rs"]
mod tests;

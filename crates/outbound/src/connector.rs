//! How a connection is made: TCP without delays, TLS where the address says so, all within one bound.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder, MaybeHttpsStream};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tower_service::Service;

use crate::names::{Names, Resolver};
use crate::trust::Trust;

type BoxError = Box<dyn Error + Send + Sync>;
pub type Stream = MaybeHttpsStream<TokioIo<TcpStream>>;

/// Makes a connection or gives up in time: name lookup and handshake count too, a plain TCP timeout
/// would let both hang.
#[derive(Clone)]
pub struct Connector {
    inner: HttpsConnector<HttpConnector<Resolver>>,
    limit: Duration,
}

/// For whoever trusts what the system trusts, and goes where its names lead.
pub fn connector(https: bool, limit: Duration) -> Result<Connector, rustls::Error> {
    connector_with(https, limit, &Trust::default(), &Names::default())
}

pub fn connector_with(
    https: bool,
    limit: Duration,
    trust: &Trust,
    names: &Names,
) -> Result<Connector, rustls::Error> {
    let mut tcp = HttpConnector::new_with_resolver(names.resolver());
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_keepalive(Some(Duration::from_secs(60)));
    let inner = HttpsConnectorBuilder::new()
        .with_tls_config(trust.tls(https)?)
        .https_or_http()
        .enable_http1()
        .wrap_connector(tcp);
    Ok(Connector { inner, limit })
}

impl Service<Uri> for Connector {
    type Response = Stream;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Stream, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connecting = self.inner.call(uri);
        let limit = self.limit;
        Box::pin(async move {
            tokio::time::timeout(limit, connecting).await.unwrap_or_else(|_| {
                let text = format!("not connected after {} ms", limit.as_millis());
                Err(io::Error::new(io::ErrorKind::TimedOut, text).into())
            })
        })
    }
}

impl fmt::Debug for Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connector").field("limit", &self.limit).finish_non_exhaustive()
    }
}

//! How a connection is made: TCP without delays, TLS where the address says so, all within one bound.

use std::error::Error;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use ::http::Uri;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder, MaybeHttpsStream};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioIo;
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tower_service::Service;

type BoxError = Box<dyn Error + Send + Sync>;
type Stream = MaybeHttpsStream<TokioIo<TcpStream>>;

/// Makes a connection or gives up in time: name lookup and handshake count too, a plain TCP timeout
/// would let both hang.
#[derive(Clone)]
pub(crate) struct Connector {
    inner: HttpsConnector<HttpConnector>,
    limit: Duration,
}

pub(crate) fn connector(https: bool, limit: Duration) -> Result<Connector, rustls::Error> {
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_keepalive(Some(Duration::from_secs(60)));
    let inner = HttpsConnectorBuilder::new()
        .with_tls_config(tls(https)?)
        .https_or_http()
        .enable_http1()
        .wrap_connector(tcp);
    Ok(Connector { inner, limit })
}

/// The certificates this host trusts, or the well-known ones where it has none (a bare image). Reading
/// them takes a while, so it is left out for plain http.
fn tls(needed: bool) -> Result<ClientConfig, rustls::Error> {
    let mut roots = RootCertStore::empty();
    if needed {
        let (added, _) = roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if added == 0 {
            roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    Ok(ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth())
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

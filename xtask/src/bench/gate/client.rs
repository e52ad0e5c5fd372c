//! The client: one connection that is kept, and the time at which each piece of an answer came.

use std::net::SocketAddr;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use super::mock::stamp;

#[derive(Debug)]
pub(in crate::bench) struct Client {
    address: SocketAddr,
    key: String,
    connection: Option<SendRequest<Full<Bytes>>>,
}

#[derive(Debug)]
pub(in crate::bench) struct Reply {
    pub(in crate::bench) status: StatusCode,
    begun: Instant,
    pieces: Vec<(Instant, Bytes)>,
    ended: Instant,
}

impl Client {
    pub(in crate::bench) fn new(address: SocketAddr, key: &str) -> Self {
        Self { address, key: key.to_owned(), connection: None }
    }

    /// An answer that is no success is an error.
    pub(in crate::bench) async fn post(&mut self, path: &str, body: Bytes) -> Result<Reply> {
        let reply = self.send(Method::POST, path, body).await?;
        let said = || reply.text().chars().take(500).collect::<String>();
        ensure!(reply.status.is_success(), "{path} answered {}: {}", reply.status, said());
        Ok(reply)
    }

    pub(in crate::bench) async fn send(&mut self, method: Method, path: &str, body: Bytes) -> Result<Reply> {
        self.send_with(method, path, &[], body).await
    }

    /// With more in its head.
    pub(in crate::bench) async fn send_with(
        &mut self,
        method: Method,
        path: &str,
        headers: &[(&str, String)],
        body: Bytes,
    ) -> Result<Reply> {
        let kept = match self.connection.take() {
            Some(mut kept) => kept.ready().await.is_ok().then_some(kept),
            None => None,
        };
        let mut connection = match kept {
            Some(kept) => kept,
            None => self.connect().await?,
        };
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(HOST, self.address.to_string())
            .header(AUTHORIZATION, format!("Bearer {}", self.key))
            .header(CONTENT_TYPE, "application/json");
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        let request = request.body(Full::new(body))?;
        let begun = Instant::now();
        let (head, mut body) = connection.send_request(request).await?.into_parts();
        let mut pieces = Vec::with_capacity(1);
        while let Some(frame) = body.frame().await {
            if let Ok(data) = frame?.into_data() {
                pieces.push((Instant::now(), data));
            }
        }
        let ended = Instant::now();
        self.connection = Some(connection);
        Ok(Reply { status: head.status, begun, pieces, ended })
    }

    async fn connect(&self) -> Result<SendRequest<Full<Bytes>>> {
        let stream = TcpStream::connect(self.address).await.context("no connection")?;
        stream.set_nodelay(true)?;
        let (mut sender, connection) = handshake(TokioIo::new(stream)).await?;
        // Its errors come with the request that meets them.
        tokio::spawn(async move { connection.await.ok() });
        sender.ready().await?;
        Ok(sender)
    }
}

impl Reply {
    pub(in crate::bench) fn whole_ms(&self) -> f64 {
        self.ms_until(self.ended)
    }

    /// Until the first byte of the body.
    pub(in crate::bench) fn first_ms(&self) -> f64 {
        self.ms_until(self.pieces.first().map_or(self.ended, |(at, _)| *at))
    }

    fn ms_until(&self, at: Instant) -> f64 {
        at.duration_since(self.begun).as_secs_f64() * 1000.0
    }

    pub(in crate::bench) fn text(&self) -> String {
        let bytes: Vec<u8> = self.pieces.iter().flat_map(|(_, bytes)| bytes.iter().copied()).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// How long each delta was under way, from the time that it carries. One that came in two pieces is
    /// left out.
    pub(in crate::bench) fn chunk_ms(&self) -> Vec<f64> {
        let mut times = Vec::new();
        for (at, bytes) in &self.pieces {
            let came = stamp(*at);
            let text = String::from_utf8_lossy(bytes);
            let sent = stamps(&text);
            times.extend(sent.map(|sent| came.saturating_sub(sent) as f64 / 1e6));
        }
        times
    }
}

/// `"delta":"@123;"`, however the JSON is spaced.
fn stamps(text: &str) -> impl Iterator<Item = u128> {
    text.split("\"delta\"").skip(1).filter_map(|rest| {
        let rest = rest.trim_start_matches([':', ' ', '"']).strip_prefix('@')?;
        rest.split_once(';')?.0.parse().ok()
    })
}

#[cfg(test)]
#[path = "client_tests.rs"]
mod tests;

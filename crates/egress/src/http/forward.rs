//! Sends requests on to where they may go, over a connection that is kept for the next one to the same place.

use std::io;
use std::sync::Arc;

use http::{HeaderValue, Request, Response, StatusCode, Uri, header};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::sync::Mutex;

use super::answers::{Answer, refusal, text, unanswered};
use super::breaking::Cut;
use super::headers::{host, remove_own, split, upgrade};
use super::proxy::{absolute_target, host_value};
use super::upstream::Upstream;
use crate::Way;
use crate::denied::{NoConnection, Wanted, Why};
use crate::sandbox::SandboxEgress;
use crate::secrets::{self, Unsaid};
use crate::tunnel::check_name;

/// Forwards the requests of one connection from inside.
pub(crate) struct Forwarder {
    sandbox: Arc<SandboxEgress>,
    /// Where a connection that knows of no proxy was made to.
    fixed: Option<Wanted>,
    /// To the server by TLS, with secrets put in.
    tls: bool,
    upstream: Mutex<Option<Upstream>>,
}

impl Forwarder {
    pub(crate) fn proxy(sandbox: Arc<SandboxEgress>) -> Self {
        Self { sandbox, fixed: None, tls: false, upstream: Mutex::new(None) }
    }

    pub(crate) fn fixed(
        sandbox: Arc<SandboxEgress>,
        wanted: Wanted,
        tls: bool,
        first: Option<Upstream>,
    ) -> Self {
        Self { sandbox, fixed: Some(wanted), tls, upstream: Mutex::new(first) }
    }

    /// A request to the proxy, with its whole URL.
    pub(crate) async fn absolute(&self, request: Request<Incoming>) -> Answer {
        match absolute_target(&request) {
            Ok(wanted) => self.forward(wanted, request).await,
            Err(why) => refusal(&self.sandbox.refused(Way::Http, why).await),
        }
    }

    /// A request in a connection that was made straight to the server.
    pub(crate) async fn straight(&self, request: Request<Incoming>) -> Answer {
        let Some(wanted) = &self.fixed else { return text(StatusCode::BAD_REQUEST, "no destination") };
        let upstream = self.upstream.lock().await;
        let address = upstream.as_ref().and_then(|upstream| upstream.address);
        drop(upstream);
        match self.names(wanted, address, &request) {
            Ok(()) => self.forward(wanted.clone(), request).await,
            Err(why) => refusal(&self.sandbox.refused(Way::Transparent, why).await),
        }
    }

    /// Whether the request names the server that the connection was made to.
    fn names(
        &self,
        wanted: &Wanted,
        address: Option<std::net::IpAddr>,
        request: &Request<Incoming>,
    ) -> Result<(), NoConnection> {
        let unreadable = || wanted.denied(Why::Disagrees { said: "nothing that can be read".to_owned() });
        let in_line = request.uri().authority().map(http::uri::Authority::as_str);
        let in_header = host(request).map_err(|()| unreadable())?;
        if in_line.is_none() && in_header.is_none() {
            return Err(unreadable());
        }
        for said in in_line.into_iter().chain(in_header) {
            let disagrees = || wanted.denied(Why::Disagrees { said: said.chars().take(80).collect() });
            let (name, port) = split(said).ok_or_else(disagrees)?;
            if port.is_some_and(|port| port != wanted.port) {
                return Err(disagrees());
            }
            check_name(&self.sandbox, wanted, Some(name), address)?;
        }
        Ok(())
    }

    async fn forward(&self, wanted: Wanted, mut request: Request<Incoming>) -> Answer {
        let hosts_own = request.headers().get(header::HOST).cloned();
        let upgrading = upgrade(&request);
        let unsaid = match self.prepare(&wanted, &mut request, hosts_own, upgrading.as_ref()) {
            Ok(unsaid) => unsaid,
            Err(why) => return refusal(&self.sandbox.refused(Way::Http, why).await),
        };
        let ours = upgrading.is_some().then(|| hyper::upgrade::on(&mut request));
        let cut = request.extensions_mut().remove::<Cut>().unwrap_or_default();
        // One request at a time: the next of this connection comes when this one was answered.
        let mut kept = self.upstream.lock().await;
        let (upstream, mut answer) = match self.send(&wanted, kept.take(), request).await {
            Ok(answered) => answered,
            Err(answer) => return answer,
        };
        if answer.status() == StatusCode::SWITCHING_PROTOCOLS {
            return self.changed(&wanted, upstream, answer, (ours, cut), unsaid);
        }
        *kept = Some(upstream);
        drop(kept);
        remove_own(answer.headers_mut());
        self.told(&wanted, answer, unsaid)
    }

    /// Over the connection of the request before, if there is one. It may close as this one leaves: then the request is
    /// sent over a new one, unless something of it was sent already.
    async fn send(
        &self,
        wanted: &Wanted,
        kept: Option<Upstream>,
        mut request: Request<Incoming>,
    ) -> Result<(Upstream, Response<Incoming>), Answer> {
        if let Some(mut upstream) = usable(wanted, kept).await {
            let mut failed = match upstream.sender.try_send_request(request).await {
                Ok(answer) => return Ok((upstream.answered(), answer)),
                Err(failed) => failed,
            };
            match failed.take_message() {
                Some(unsent) => request = unsent,
                None => {
                    let error = failed.into_error();
                    return Err(match upstream.has_answered && is_closed(&error) {
                        true => unanswered(),
                        false => broke_off(wanted, &error),
                    });
                }
            }
        }
        let mut upstream = self.fresh(wanted).await.map_err(|why| refusal(&why))?;
        match upstream.sender.send_request(request).await {
            Ok(answer) => Ok((upstream.answered(), answer)),
            Err(error) => Err(broke_off(wanted, &error)),
        }
    }

    /// Makes it a request to the server itself, with what it may carry. Gives what its answer must not repeat.
    fn prepare(
        &self,
        wanted: &Wanted,
        request: &mut Request<Incoming>,
        named: Option<HeaderValue>,
        upgrading: Option<&HeaderValue>,
    ) -> Result<Arc<Unsaid>, NoConnection> {
        let path = request.uri().path_and_query().map_or("/", http::uri::PathAndQuery::as_str);
        *request.uri_mut() = path.parse().unwrap_or_else(|_| Uri::from_static("/"));
        remove_own(request.headers_mut());
        // Our own server has answered it, or will.
        request.headers_mut().remove(header::EXPECT);
        let usual = if self.tls { 443 } else { 80 };
        if let Some(value) = named.or_else(|| host_value(wanted, usual)) {
            request.headers_mut().insert(header::HOST, value);
        }
        if let Some(protocol) = upgrading {
            request.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
            request.headers_mut().insert(header::UPGRADE, protocol.clone());
        }
        secrets::put_in(&self.sandbox, wanted, request, self.tls)
    }

    async fn fresh(&self, wanted: &Wanted) -> Result<Upstream, NoConnection> {
        let way = if self.fixed.is_some() { Way::Transparent } else { Way::Http };
        let ticket = self.sandbox.ticket(way, wanted).await?;
        let (stream, ticket) = self.sandbox.connect(wanted, ticket).await?;
        Upstream::open(&self.sandbox, wanted.clone(), stream, ticket, self.tls).await
    }

    /// The server goes on in the protocol that was asked for.
    fn changed(
        &self,
        wanted: &Wanted,
        upstream: Upstream,
        mut answer: Response<Incoming>,
        (ours, cut): (Option<hyper::upgrade::OnUpgrade>, Cut),
        unsaid: Arc<Unsaid>,
    ) -> Answer {
        let Some(ours) = ours else {
            let why = "it changed to another protocol unasked".to_owned();
            return refusal(&NoConnection::Failed { to: wanted.to_string(), why });
        };
        let theirs = hyper::upgrade::on(&mut answer);
        upstream.join(&self.sandbox, (ours, cut), theirs, Arc::clone(&unsaid));
        self.told(wanted, answer, unsaid)
    }

    fn told(&self, wanted: &Wanted, answer: Response<Incoming>, unsaid: Arc<Unsaid>) -> Answer {
        if self.tls {
            return secrets::taken_out(unsaid, wanted, answer);
        }
        answer.map(|body| body.map_err(Into::into).boxed())
    }
}

/// The connection of the request before, if it leads to the same place and still lives.
async fn usable(wanted: &Wanted, kept: Option<Upstream>) -> Option<Upstream> {
    let mut upstream = kept.filter(|kept| kept.wanted == *wanted && !kept.sender.is_closed())?;
    upstream.sender.ready().await.ok().map(|()| upstream)
}

/// As a server does that has waited long enough for another request.
fn is_closed(error: &hyper::Error) -> bool {
    let cause = std::error::Error::source(error).and_then(|cause| cause.downcast_ref::<io::Error>());
    let is_reset = |cause: &io::Error| {
        matches!(cause.kind(), io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe)
    };
    error.is_incomplete_message() || error.is_closed() || error.is_canceled() || cause.is_some_and(is_reset)
}

fn broke_off(wanted: &Wanted, error: &hyper::Error) -> Answer {
    let why = format!("it broke off ({error})");
    refusal(&NoConnection::Failed { to: wanted.to_string(), why })
}

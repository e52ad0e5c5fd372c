//! For tests: a server that answers as it is told, and remembers what it was asked.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpListener;

#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) method: Method,
    /// With its query.
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Asked {
    pub(crate) fn line(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

pub(crate) struct TestServer {
    /// Without a path.
    pub(crate) host: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl TestServer {
    /// `answer` gives a status, a kind of content and a body.
    pub(crate) async fn start(
        answer: impl Fn(&Asked) -> (u16, &'static str, String) + Clone + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let all = Arc::clone(&asked);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (answer, all) = (answer.clone(), Arc::clone(&all));
                let service = service_fn(move |request: Request<Incoming>| {
                    let (answer, all) = (answer.clone(), Arc::clone(&all));
                    async move {
                        let (head, body) = request.into_parts();
                        let path = head.uri.path_and_query().map(ToString::to_string).unwrap_or_default();
                        let body = body.collect().await.unwrap().to_bytes();
                        let asked = Asked { method: head.method, path, headers: head.headers, body };
                        let (status, kind, body) = answer(&asked);
                        all.lock().unwrap().push(asked);
                        let response = Response::builder().status(status).header("content-type", kind);
                        Ok::<_, Infallible>(response.body(Full::new(Bytes::from(body))).unwrap())
                    }
                });
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
            }
        });
        Self { host, asked }
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.asked().iter().map(Asked::line).collect()
    }
}

pub(crate) const JSON: &str = "application/json";

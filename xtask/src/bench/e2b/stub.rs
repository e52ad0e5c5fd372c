//! A server of E2B's protocol that does nothing: what the SDK takes by itself. It answers each step of the
//! driver at once, with what the SDK wants to read, and keeps no file.

use std::convert::Infallible;
use std::net::SocketAddr;

use anyhow::Result;
use bytes::{BufMut, Bytes, BytesMut};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;

const SANDBOX: &str = r#"{"templateID":"code-interpreter-v1","sandboxID":"istub0000000000000000","clientID":"stub","envdVersion":"0.6.13","envdAccessToken":"ea_stub","trafficAccessToken":"ta_stub","domain":null}"#;
const RUN: &str = concat!(
    r#"{"type":"number_of_executions","execution_count":1}"#,
    "\n",
    r#"{"type":"stdout","text":"42\n","timestamp":"2026-01-01T00:00:00.000000+00:00"}"#,
    "\n",
    r#"{"type":"end_of_execution"}"#,
    "\n",
);
const WRITTEN: &str = r#"[{"path":"/home/user/file","name":"file","type":"file"}]"#;
/// `42` and a line break, in base64.
const COMMAND: [&str; 3] = [
    r#"{"event":{"start":{"pid":1}}}"#,
    r#"{"event":{"data":{"stdout":"NDIK"}}}"#,
    r#"{"event":{"end":{"exited":true,"status":"exit status 0"}}}"#,
];
/// The flag of the frame that ends a stream of the Connect protocol.
const LAST: u8 = 2;
/// The most that a file's name may ask for.
const LARGEST: usize = 128 * 1024 * 1024;

/// Serves until this process ends.
pub(super) fn start() -> Result<SocketAddr> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    std::thread::Builder::new().name("stub".to_owned()).spawn(move || runtime.block_on(serve(listener)))?;
    Ok(address)
}

async fn serve(listener: std::net::TcpListener) -> Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    loop {
        let (connection, _) = listener.accept().await?;
        connection.set_nodelay(true)?;
        let serving = http1::Builder::new().serve_connection(TokioIo::new(connection), service_fn(answer));
        // A client that goes away is no event.
        tokio::spawn(async move { serving.await.ok() });
    }
}

async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, mut body) = request.into_parts();
    // Read to its end, and forgotten.
    while let Some(Ok(_)) = body.frame().await {}
    Ok(said(&head.method, head.uri.path(), head.uri.query().unwrap_or_default()))
}

fn said(method: &Method, path: &str, query: &str) -> Response<Full<Bytes>> {
    let path = path.strip_prefix("/e2b").unwrap_or(path);
    match (method, path) {
        (&Method::POST, "/v2/sandboxes") => with(StatusCode::CREATED, "application/json", SANDBOX.into()),
        (&Method::DELETE, _) => with(StatusCode::NO_CONTENT, "application/json", Bytes::new()),
        (&Method::POST, "/execute") => with(StatusCode::OK, "application/json", RUN.into()),
        (&Method::POST, "/files") => with(StatusCode::OK, "application/json", WRITTEN.into()),
        (&Method::GET, "/files") => {
            let content = vec![0; size(query).min(LARGEST)];
            with(StatusCode::OK, "application/octet-stream", content.into())
        }
        (&Method::POST, "/process.Process/Start") => {
            with(StatusCode::OK, "application/connect+json", command())
        }
        _ => with(StatusCode::NOT_FOUND, "application/json", r#"{"code":404,"message":"stub"}"#.into()),
    }
}

fn with(status: StatusCode, kind: &'static str, body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// A file's name says how long it is: `path=%2Fhome%2Fuser%2F1024.bin`.
fn size(query: &str) -> usize {
    let path = query.split('&').find_map(|pair| pair.strip_prefix("path=")).unwrap_or_default();
    let name = path.rsplit(['/', 'F']).next().unwrap_or_default();
    name.trim_end_matches(".bin").parse().unwrap_or(0)
}

fn command() -> Bytes {
    let mut frames = BytesMut::new();
    let all = COMMAND.iter().map(|text| (0, *text)).chain([(LAST, "{}")]);
    for (flag, text) in all {
        frames.put_u8(flag);
        frames.put_u32(u32::try_from(text.len()).unwrap_or(u32::MAX));
        frames.put_slice(text.as_bytes());
    }
    frames.freeze()
}

#[cfg(test)]
#[path = "stub_tests.rs"]
mod tests;

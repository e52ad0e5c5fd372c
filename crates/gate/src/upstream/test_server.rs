//! For tests: a server that answers with given bytes, and tells what it was asked and when it was left.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

type Shared<T> = Arc<Mutex<T>>;

/// What one request is answered with.
#[derive(Clone)]
pub(crate) enum Answer {
    /// These bytes, each piece in a write of its own; the connection stays open for the next request.
    Bytes(Vec<Vec<u8>>),
    /// These bytes, then the connection is closed.
    ThenClose(Vec<u8>),
    /// These bytes, then silence until the client hangs up.
    ThenSilence(Vec<u8>),
}

#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Asked {
    pub(crate) fn line(&self) -> &str {
        self.head.lines().next().unwrap_or_default()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then_some(value.trim())
        })
    }
}

pub(crate) struct Server {
    pub(crate) base: String,
    asked: Shared<Vec<Asked>>,
    connections: Arc<AtomicUsize>,
    hang_ups: mpsc::UnboundedReceiver<()>,
}

impl Server {
    /// The n-th request gets the n-th answer, whatever connection it comes over.
    pub(crate) async fn start(answers: Vec<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}/v1", listener.local_addr().unwrap());
        let asked = Shared::default();
        let connections = Arc::new(AtomicUsize::new(0));
        let (left, hang_ups) = mpsc::unbounded_channel();
        let (all_asked, counter) = (asked.clone(), connections.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                counter.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(serve(stream, answers.clone(), all_asked.clone(), left.clone()));
            }
        });
        Self { base, asked, connections, hang_ups }
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// Waits until a client that was left waiting has hung up.
    pub(crate) async fn hang_up(&mut self) {
        tokio::time::timeout(Duration::from_secs(5), self.hang_ups.recv())
            .await
            .expect("the client hangs up");
    }
}

async fn serve(
    mut stream: TcpStream,
    answers: Vec<Answer>,
    asked: Shared<Vec<Asked>>,
    left: mpsc::UnboundedSender<()>,
) {
    while let Some(request) = read_request(&mut stream).await {
        let number = {
            let mut asked = asked.lock().unwrap();
            asked.push(request);
            asked.len() - 1
        };
        match answers.get(number).cloned() {
            Some(Answer::Bytes(pieces)) => {
                for piece in pieces {
                    stream.write_all(&piece).await.unwrap();
                    stream.flush().await.unwrap();
                    tokio::task::yield_now().await;
                }
            }
            Some(Answer::ThenClose(bytes)) => {
                stream.write_all(&bytes).await.unwrap();
                return;
            }
            Some(Answer::ThenSilence(bytes)) => {
                stream.write_all(&bytes).await.unwrap();
                let mut rest = [0; 16];
                while stream.read(&mut rest).await.is_ok_and(|count| count > 0) {}
                left.send(()).ok();
                return;
            }
            None => return,
        }
    }
}

async fn read_request(stream: &mut TcpStream) -> Option<Asked> {
    let mut bytes = Vec::new();
    let head_end = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let mut body = bytes.split_off(head_end);
    let mut request = Asked { head: String::from_utf8(bytes).unwrap(), body: Vec::new() };
    if request.header("transfer-encoding").is_some() {
        while !body.ends_with(b"0\r\n\r\n") {
            stream.read_buf(&mut body).await.ok()?;
        }
    }
    let length: usize = request.header("content-length").map_or(0, |text| text.parse().unwrap());
    while body.len() < length {
        stream.read_buf(&mut body).await.ok()?;
    }
    request.body = body;
    Some(request)
}

/// A complete answer with a length.
pub(crate) fn answer(status: &str, headers: &str, body: &str) -> Answer {
    let head = format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n", body.len());
    Answer::Bytes(vec![head.into_bytes(), body.as_bytes().to_vec()])
}

pub(crate) fn json_answer(body: &serde_json::Value) -> Answer {
    answer("200 OK", "content-type: application/json\r\n", &body.to_string())
}

pub(crate) const EVENTS_HEAD: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n";

/// A chunk of a chunked body.
pub(crate) fn chunk(text: &[u8]) -> Vec<u8> {
    let mut bytes = format!("{:x}\r\n", text.len()).into_bytes();
    bytes.extend_from_slice(text);
    bytes.extend_from_slice(b"\r\n");
    bytes
}

/// A complete stream of events, in pieces of `size` bytes.
pub(crate) fn events_answer(text: &[u8], size: usize) -> Answer {
    let mut pieces = vec![EVENTS_HEAD.as_bytes().to_vec()];
    pieces.extend(text.chunks(size).map(chunk));
    pieces.push(b"0\r\n\r\n".to_vec());
    Answer::Bytes(pieces)
}

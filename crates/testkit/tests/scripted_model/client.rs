//! A client that shows what a library would hide: where the writes of the body end, and how the connection does.

use std::net::SocketAddr;
use std::str::FromStr;

use sandgate_testkit::ScriptedModel;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

#[derive(Debug, Default)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    /// The chunks of the body as they were sent.
    pub(super) chunks: Vec<Vec<u8>>,
    /// The connection ended before the body did.
    pub(super) broken: bool,
}

impl Answer {
    pub(super) fn body(&self) -> Vec<u8> {
        self.chunks.concat()
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body()).unwrap()
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }
}

pub(super) async fn send(
    model: &ScriptedModel,
    request: &str,
    key: &str,
    body: &str,
) -> BufReader<TcpStream> {
    let address = SocketAddr::from_str(model.url().trim_start_matches("http://")).unwrap();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "{request} HTTP/1.1\r\nhost: test\r\nauthorization: Bearer {key}\r\ncontent-type: application/json\r\n\
         content-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all((head + body).as_bytes()).await.unwrap();
    BufReader::new(stream)
}

pub(super) async fn post(model: &ScriptedModel, path: &str, key: &str, body: &Value) -> Answer {
    read(send(model, &format!("POST {path}"), key, &body.to_string()).await).await
}

pub(super) async fn call(model: &ScriptedModel, request: &str, key: &str, body: &str) -> Answer {
    read(send(model, request, key, body).await).await
}

async fn read(mut stream: BufReader<TcpStream>) -> Answer {
    let mut answer = Answer { status: line(&mut stream).await[9..12].parse().unwrap(), ..Answer::default() };
    loop {
        let line = line(&mut stream).await;
        let Some((name, value)) = line.split_once(": ") else { break };
        answer.headers.push((name.to_owned(), value.to_owned()));
    }
    if let Some(length) = answer.header("content-length") {
        let mut body = vec![0; length.parse().unwrap()];
        stream.read_exact(&mut body).await.unwrap();
        answer.chunks.push(body);
        return answer;
    }
    loop {
        let Ok(size) = usize::from_str_radix(&line(&mut stream).await, 16) else {
            answer.broken = true;
            return answer;
        };
        if size == 0 {
            return answer;
        }
        let mut chunk = vec![0; size];
        stream.read_exact(&mut chunk).await.unwrap();
        answer.chunks.push(chunk);
        line(&mut stream).await;
    }
}

/// A line without its end; empty when the connection is over.
async fn line(stream: &mut BufReader<TcpStream>) -> String {
    let mut line = String::new();
    drop(stream.read_line(&mut line).await);
    line.trim_end().to_owned()
}

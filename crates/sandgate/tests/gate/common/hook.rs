//! A webhook of an operator's: a small server that answers what it is told to, and remembers the questions.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::Value;

/// What the hook does with a question.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// This status, these lines of the head, this body.
    Bytes(&'static str, String, String),
    /// Nothing, until whoever asked has left.
    Silence,
}

#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) head: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

#[derive(Debug)]
struct State {
    reply: Reply,
    asked: Vec<Asked>,
}

/// It goes when this process does.
#[derive(Clone, Debug)]
pub(crate) struct Hook {
    pub(crate) address: SocketAddr,
    state: Arc<Mutex<State>>,
}

impl Reply {
    pub(crate) fn json(body: &Value) -> Self {
        Self::Bytes("200 OK", String::new(), body.to_string())
    }
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> &str {
        let found = self.head.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
        &found.unwrap_or_else(|| panic!("no header {name}: {:?}", self.head)).1
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("JSON")
    }
}

impl Hook {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let state = Arc::new(Mutex::new(State { reply: Reply::Silence, asked: Vec::new() }));
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&shared);
                thread::spawn(move || serve(stream, &state));
            }
        });
        Self { address, state }
    }

    pub(crate) fn reply(&self, reply: Reply) {
        self.state.lock().unwrap().reply = reply;
    }

    /// What it was asked since it was last looked at.
    pub(crate) fn take_asked(&self) -> Vec<Asked> {
        std::mem::take(&mut self.state.lock().unwrap().asked)
    }
}

fn serve(stream: TcpStream, state: &Mutex<State>) {
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
    let mut reader = BufReader::new(stream);
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        match line.trim_end().split_once(": ") {
            Some((name, value)) => head.push((name.to_owned(), value.to_owned())),
            None if line.trim().is_empty() => break,
            None => {}
        }
    }
    let mut asked = Asked { head, body: Vec::new() };
    asked.body.resize(asked.header("content-length").parse().expect("a length"), 0);
    reader.read_exact(&mut asked.body).expect("the body");
    let reply = {
        let mut state = state.lock().unwrap();
        state.asked.push(asked);
        state.reply.clone()
    };
    match reply {
        Reply::Bytes(status, lines, body) => {
            let length = body.len();
            let answer = format!("HTTP/1.1 {status}\r\n{lines}content-length: {length}\r\n\r\n{body}");
            let _ = reader.get_mut().write_all(answer.as_bytes());
        }
        Reply::Silence => while reader.read(&mut [0; 64]).is_ok_and(|count| count > 0) {},
    }
}

//! A client that looks at the bytes: every answer's status, head and body, and streams as they come.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};

use sandgate_testkit::{Schemas, read_events};
use serde_json::{Value, json};

use super::LONGEST;

/// A client with one key.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) address: SocketAddr,
    pub(crate) key: String,
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

/// The tool as most clients declare it.
pub(crate) fn code_tool() -> Value {
    json!([{"type": "code_interpreter", "container": {"type": "auto"}}])
}

impl Client {
    pub(crate) fn new(address: SocketAddr, key: &str) -> Self {
        Self { address, key: key.to_owned() }
    }

    /// Somebody else at the same server.
    pub(crate) fn stranger(&self) -> Self {
        Self { key: format!("{}-stranger", self.key), ..self.clone() }
    }

    pub(crate) fn send(&self, method: &str, target: &str, kind: &str, body: &[u8]) -> TcpStream {
        self.send_with(method, target, &format!("content-type: {kind}\r\n"), body)
    }

    /// With more lines in its head, each with its end.
    fn send_with(&self, method: &str, target: &str, lines: &str, body: &[u8]) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).expect("a connection");
        stream.set_read_timeout(Some(LONGEST)).expect("a timeout");
        let Self { address, key } = self;
        let length = body.len();
        // By the old version, whose answers end with the connection.
        let head = format!(
            "{method} {target} HTTP/1.0\r\nhost: {address}\r\nauthorization: Bearer {key}\r\n\
             {lines}content-length: {length}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).expect("the head is sent");
        // A server that has refused already may not read the rest.
        let _ = stream.write_all(body);
        stream
    }

    /// With these lines in its head and no key besides.
    pub(crate) fn without_authorization(
        &self,
        method: &str,
        target: &str,
        lines: &str,
        body: &[u8],
    ) -> Answer {
        let mut stream = TcpStream::connect(self.address).expect("a connection");
        stream.set_read_timeout(Some(LONGEST)).expect("a timeout");
        let (address, length) = (self.address, body.len());
        let head = format!(
            "{method} {target} HTTP/1.0\r\nhost: {address}\r\n{lines}content-length: {length}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).expect("the head is sent");
        let _ = stream.write_all(body);
        answer(stream)
    }

    pub(crate) fn post(&self, target: &str, body: &Value) -> Answer {
        answer(self.send("POST", target, "application/json", body.to_string().as_bytes()))
    }

    /// JSON as it is written.
    pub(crate) fn raw(&self, method: &str, target: &str, body: &[u8]) -> Answer {
        answer(self.send(method, target, "application/json", body))
    }

    /// The same under an id of the client's own.
    pub(crate) fn raw_as(&self, id: &str, method: &str, target: &str, body: &[u8]) -> Answer {
        let lines = format!("content-type: application/json\r\nx-request-id: {id}\r\n");
        answer(self.send_with(method, target, &lines, body))
    }

    /// With more lines in its head, each with its end.
    pub(crate) fn post_with(&self, target: &str, lines: &str, body: &Value) -> Answer {
        let lines = format!("content-type: application/json\r\n{lines}");
        answer(self.send_with("POST", target, &lines, body.to_string().as_bytes()))
    }

    /// A body of some other type, or of none.
    pub(crate) fn typed(&self, method: &str, target: &str, kind: &str, body: &[u8]) -> Answer {
        answer(self.send(method, target, kind, body))
    }

    pub(crate) fn get(&self, target: &str) -> Answer {
        answer(self.send("GET", target, "application/json", b""))
    }

    pub(crate) fn delete(&self, target: &str) -> Answer {
        answer(self.send("DELETE", target, "application/json", b""))
    }

    /// A create request with the code tool, and the fields given over it.
    pub(crate) fn create(&self, fields: Value) -> Answer {
        self.post("/v1/responses", &request(fields))
    }

    /// A whole response, which fits the official schema.
    #[track_caller]
    pub(crate) fn respond(&self, fields: Value) -> Value {
        let response = self.create(fields).ok();
        checked(Schemas::check_response(&response), &response);
        response
    }

    /// The events of a streamed response, each of which fits the official schema.
    #[track_caller]
    pub(crate) fn stream(&self, fields: Value) -> Vec<Value> {
        let mut fields = request(fields);
        fields["stream"] = json!(true);
        self.post("/v1/responses", &fields).events()
    }

    /// A stream to be read as it comes.
    pub(crate) fn open_stream(&self, fields: Value) -> Streaming {
        let mut fields = request(fields);
        fields["stream"] = json!(true);
        let body = fields.to_string();
        let stream = self.send("POST", "/v1/responses", "application/json", body.as_bytes());
        Streaming(BufReader::new(stream))
    }

    /// Uploads a file and gives its object.
    #[track_caller]
    pub(crate) fn upload(&self, target: &str, name: &str, content: &[u8]) -> Value {
        self.try_upload(target, name, content).ok()
    }

    pub(crate) fn try_upload(&self, target: &str, name: &str, content: &[u8]) -> Answer {
        let boundary = "a-line-between-parts";
        let mut body = Vec::new();
        let purpose =
            format!("--{boundary}\r\ncontent-disposition: form-data; name=\"purpose\"\r\n\r\nassistants\r\n");
        let file = format!(
            "--{boundary}\r\ncontent-disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
             content-type: application/octet-stream\r\n\r\n"
        );
        if target == "/v1/files" {
            body.extend(purpose.as_bytes());
        }
        body.extend(file.as_bytes());
        body.extend(content);
        body.extend(format!("\r\n--{boundary}--\r\n").as_bytes());
        answer(self.send("POST", target, &format!("multipart/form-data; boundary={boundary}"), &body))
    }
}

/// A request with the code tool, and the fields given over it.
pub(crate) fn request(fields: Value) -> Value {
    let mut request = json!({"model": "gpt-test", "tools": code_tool(), "input": "go"});
    let (Value::Object(request_fields), Value::Object(fields)) = (&mut request, fields) else {
        panic!("fields are an object")
    };
    request_fields.extend(fields);
    request_fields.retain(|_, value| !value.is_null());
    request
}

impl Answer {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("not JSON: {}", self.text()))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    #[track_caller]
    pub(crate) fn ok(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.text());
        self.json()
    }

    /// Asserts that it is a refusal with this status in OpenAI's form, and gives the error.
    #[track_caller]
    pub(crate) fn refused(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text());
        let body = self.json();
        for key in ["message", "type", "param", "code"] {
            assert!(body["error"].get(key).is_some(), "no '{key}': {body}");
        }
        body["error"].clone()
    }

    #[track_caller]
    pub(crate) fn events(&self) -> Vec<Value> {
        self.events_from(0)
    }

    /// The events of a stream that begins with this number.
    #[track_caller]
    pub(crate) fn events_from(&self, first: u64) -> Vec<Value> {
        assert_eq!(self.status, 200, "{}", self.text());
        assert!(self.head.contains("content-type: text/event-stream; charset=utf-8"), "{}", self.head);
        let events = read_events(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()));
        for (number, event) in (first..).zip(&events) {
            assert_eq!(event["sequence_number"], number, "{event}");
            checked(Schemas::check_event(event), event);
        }
        events
    }
}

#[track_caller]
fn checked(result: Result<(), String>, value: &Value) {
    if let Err(problem) = result {
        panic!("{problem}\n{value:#}");
    }
}

fn answer(mut stream: TcpStream) -> Answer {
    let mut bytes = Vec::new();
    let read = stream.read_to_end(&mut bytes);
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
    let end = end.unwrap_or_else(|| panic!("no answer: {read:?} {:?}", String::from_utf8_lossy(&bytes)));
    let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
    let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).expect("a status");
    Answer { status, head, body: bytes.split_off(end + 4) }
}

/// A stream under way. Dropping it hangs up.
pub(crate) struct Streaming(BufReader<TcpStream>);

impl Streaming {
    /// The next event; None at the end.
    pub(crate) fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        while self.0.read_line(&mut line).expect("a line") > 0 {
            if let Some(data) = line.strip_prefix("data: ") {
                return Some(serde_json::from_str(data).expect("JSON"));
            }
            line.clear();
        }
        None
    }

    /// Reads up to the first event of this type.
    #[track_caller]
    pub(crate) fn until(&mut self, kind: &str) -> Value {
        loop {
            match self.next() {
                Some(event) if event["type"] == kind => return event,
                Some(_) => {}
                None => panic!("the stream ended without {kind}"),
            }
        }
    }
}

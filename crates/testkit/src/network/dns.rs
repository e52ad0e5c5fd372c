//! A name server that answers what it was told to, differently each time if asked to, and remembers who asked what.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::net::UdpSocket;
use tokio::task::JoinHandle;

#[derive(Debug)]
pub struct LyingDns {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    serving: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct State {
    /// By name: the answers in turn, of which the last one stays.
    answers: HashMap<String, Vec<Vec<IpAddr>>>,
    asked: Vec<String>,
}

impl LyingDns {
    pub async fn start(address: SocketAddr) -> std::io::Result<Self> {
        let socket = UdpSocket::bind(address).await?;
        let address = socket.local_addr()?;
        let state = Arc::<Mutex<State>>::default();
        let serving = tokio::spawn(serve(socket, Arc::clone(&state)));
        Ok(Self { address, state, serving })
    }

    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Always the same addresses.
    pub fn answer(&self, name: &str, addresses: &[&str]) {
        self.answer_in_turn(name, &[addresses]);
    }

    /// Other addresses each time, the last ones for ever: a name that rebinds.
    pub fn answer_in_turn(&self, name: &str, turns: &[&[&str]]) {
        let parse = |turn: &&[&str]| turn.iter().filter_map(|text| text.parse().ok()).collect();
        let turns = turns.iter().map(parse).collect();
        lock(&self.state).answers.insert(name.to_owned(), turns);
    }

    /// Every name that was asked for, in order. IPv4 and IPv6 are two questions, of which one is counted.
    #[must_use]
    pub fn asked(&self) -> Vec<String> {
        lock(&self.state).asked.clone()
    }
}

impl Drop for LyingDns {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

fn lock(state: &Mutex<State>) -> std::sync::MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn serve(socket: UdpSocket, state: Arc<Mutex<State>>) {
    let mut buffer = [0; 1500];
    while let Ok((length, from)) = socket.recv_from(&mut buffer).await {
        if let Some(answer) = answer(&buffer[..length], &state) {
            let _ = socket.send_to(&answer, from).await;
        }
    }
}

fn answer(question: &[u8], state: &Mutex<State>) -> Option<Vec<u8>> {
    let mut name = String::new();
    let mut at = 12;
    while *question.get(at)? != 0 {
        let length = usize::from(question[at]);
        if !name.is_empty() {
            name.push('.');
        }
        name.push_str(&String::from_utf8_lossy(question.get(at + 1..at + 1 + length)?));
        at += 1 + length;
    }
    let end = at + 5;
    let six = question.get(at + 1..at + 3)? == [0, 28];
    let found = addresses(state, &name.to_ascii_lowercase(), six);
    let code = if found.is_none() { 3 } else { 0 };
    let found: Vec<_> =
        found.unwrap_or_default().into_iter().filter(|address| address.is_ipv6() == six).collect();
    let mut out = question.get(..2)?.to_vec();
    out.extend([0x81, 0x80 | code, 0, 1, 0, u8::try_from(found.len()).ok()?, 0, 0, 0, 0]);
    out.extend(question.get(12..end)?);
    for address in found {
        let (kind, data) = match address {
            IpAddr::V4(four) => (1, four.octets().to_vec()),
            IpAddr::V6(six) => (28, six.octets().to_vec()),
        };
        out.extend([0xc0, 0x0c, 0, kind, 0, 1, 0, 0, 0, 0, 0, u8::try_from(data.len()).ok()?]);
        out.extend(data);
    }
    Some(out)
}

/// The turn moves on with the question for IPv4; the one for IPv6 belongs to the same lookup.
fn addresses(state: &Mutex<State>, name: &str, six: bool) -> Option<Vec<IpAddr>> {
    let mut state = lock(state);
    if !six {
        state.asked.push(name.to_owned());
    }
    let turns = state.answers.get_mut(name)?;
    match turns.len() {
        0 => Some(Vec::new()),
        1 => turns.first().cloned(),
        _ if six => turns.first().map(|_| Vec::new()),
        _ => Some(turns.remove(0)),
    }
}

//! A sandbox's sockets at an egress, without the sandbox: what a program inside would do is done by the test.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sandgate_core::network::{NetworkCeiling, NetworkLimits, NetworkPolicy};
use sandgate_egress::{
    Attached, Egress, EgressConfig, InsideSockets, LivePolicy, Observer, Resolution, Seen, SeenVerdict,
};
use sandgate_testkit::network::{LyingDns, Origin, TestAuthority};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UdpSocket};

/// The one address of the host's loopback that the operator of these tests opens.
pub(crate) const OPENED: &str = "127.0.0.9";

#[derive(Default)]
pub(crate) struct Memory(Mutex<Vec<Seen>>);

impl Observer for Memory {
    fn seen(&self, seen: Seen) {
        self.0.lock().unwrap().push(seen);
    }
}

/// Servers outside, and an egress that may reach one address of them.
pub(crate) struct World {
    pub(crate) dns: LyingDns,
    pub(crate) authority: TestAuthority,
    pub(crate) plain: Origin,
    pub(crate) tls: Origin,
    pub(crate) egress: Arc<Egress>,
}

impl World {
    pub(crate) async fn start() -> Self {
        let dns = LyingDns::start("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let authority = TestAuthority::make().unwrap();
        let names = ["a.allowed.test", "b.allowed.test", "other.test"];
        let any: SocketAddr = (OPENED.parse::<std::net::IpAddr>().unwrap(), 0).into();
        let plain = Origin::http(any).await.unwrap();
        let tls = Origin::https(any, authority.server(&names).unwrap()).await.unwrap();
        for name in names {
            dns.answer(name, &[OPENED]);
        }
        let egress = Egress::new(config(&dns, &authority)).unwrap();
        Self { dns, authority, plain, tls, egress }
    }

    /// Connections of all sandboxes that are made from here on.
    pub(crate) fn bound_to(&mut self, connections: u32) {
        let config = EgressConfig { connections, ..config(&self.dns, &self.authority) };
        self.egress = Egress::new(config).unwrap();
    }

    pub(crate) fn http_port(&self) -> u16 {
        self.plain.address().port()
    }

    pub(crate) fn https_port(&self) -> u16 {
        self.tls.address().port()
    }

    /// A sandbox that may reach the two allowed names on the two servers.
    pub(crate) fn sandbox(&self) -> Inside {
        self.sandbox_with(&self.usual(), NetworkLimits::default())
    }

    pub(crate) fn usual(&self) -> NetworkPolicy {
        self.policy(&["*.allowed.test"])
    }

    /// These hosts, on the ports of the two servers.
    pub(crate) fn policy(&self, hosts: &[&str]) -> NetworkPolicy {
        let ports = [self.http_port(), self.https_port()];
        let words: Vec<String> =
            hosts.iter().flat_map(|host| ports.map(|port| format!("{host}:{port}"))).collect();
        NetworkPolicy::from_words(words.iter().map(String::as_str)).unwrap()
    }

    pub(crate) fn sandbox_with(&self, policy: &NetworkPolicy, limits: NetworkLimits) -> Inside {
        self.sandbox_under(policy, limits, vec![NetworkCeiling::unbounded()])
    }

    pub(crate) fn sandbox_under(
        &self,
        policy: &NetworkPolicy,
        limits: NetworkLimits,
        ceilings: Vec<NetworkCeiling>,
    ) -> Inside {
        let listen = || std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let (http, socks) = (listen(), listen());
        let dns = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let (proxy, socks_at) = (http.local_addr().unwrap(), socks.local_addr().unwrap());
        let dns_at = dns.local_addr().unwrap();
        let sockets = InsideSockets {
            http_proxy: Some(http),
            socks: Some(socks),
            dns_udp: Some(dns),
            ..InsideSockets::default()
        };
        let policy = LivePolicy::new(policy.clone(), ceilings, limits);
        let memory = Arc::<Memory>::default();
        let observer = Arc::clone(&memory) as Arc<dyn Observer>;
        let attached = self.egress.attach(sockets, policy.clone(), observer).unwrap();
        Inside { proxy, socks: socks_at, dns: dns_at, policy, attached, memory }
    }
}

fn config(dns: &LyingDns, authority: &TestAuthority) -> EgressConfig {
    EgressConfig {
        resolution: Resolution::Servers(vec![dns.address()]),
        allow_private: vec![format!("{OPENED}/32").parse().unwrap()],
        trust_pem: Some(authority.pem().to_owned()),
        ..EgressConfig::default()
    }
}

pub(crate) struct Inside {
    pub(crate) proxy: SocketAddr,
    pub(crate) socks: SocketAddr,
    pub(crate) dns: SocketAddr,
    pub(crate) policy: LivePolicy,
    pub(crate) attached: Attached,
    memory: Arc<Memory>,
}

impl Inside {
    /// CONNECT, and the status line of the answer with its body, if it is a refusal.
    pub(crate) async fn connect(&self, target: &str) -> (TcpStream, String) {
        let mut stream = TcpStream::connect(self.proxy).await.unwrap();
        stream
            .write_all(format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n").as_bytes())
            .await
            .unwrap();
        let head = read_head(&mut stream).await;
        (stream, head)
    }

    /// Everything that is answered to these bytes at the proxy.
    pub(crate) async fn ask(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(self.proxy).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        read_all(&mut stream).await
    }

    /// A plain request for a whole URL.
    pub(crate) async fn get(&self, url: &str, more: &str) -> String {
        let host = url.strip_prefix("http://").unwrap().split('/').next().unwrap();
        let host = if more.to_ascii_lowercase().contains("host:") {
            String::new()
        } else {
            format!("Host: {host}\r\n")
        };
        self.ask(&format!("GET {url} HTTP/1.1\r\n{host}{more}Connection: close\r\n\r\n")).await
    }

    /// A question for an IPv4 address: the code, and the address if there is one.
    pub(crate) async fn lookup(&self, name: &str) -> (u8, Option<[u8; 4]>) {
        let mut question = vec![0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
        for label in name.split('.') {
            question.push(u8::try_from(label.len()).unwrap());
            question.extend(label.as_bytes());
        }
        question.extend([0, 0, 1, 0, 1]);
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        socket.send_to(&question, self.dns).await.unwrap();
        let mut answer = [0; 512];
        let (length, _) = within(socket.recv_from(&mut answer)).await.unwrap();
        let address = (answer[7] == 1).then(|| answer[length - 4..length].try_into().unwrap());
        (answer[3] & 15, address)
    }

    /// What the observer was told, once there are so many of it.
    pub(crate) async fn seen(&self, count: usize) -> Vec<Seen> {
        for _ in 0..1000 {
            let seen = self.memory.0.lock().unwrap().clone();
            if seen.len() >= count {
                return seen;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("only {:?} was seen", self.memory.0.lock().unwrap());
    }

    pub(crate) async fn denials(&self, count: usize) -> Vec<String> {
        let told = |seen: Seen| match seen.verdict {
            SeenVerdict::Denied(why) => Some(why),
            SeenVerdict::Allowed | SeenVerdict::Failed(_) => None,
        };
        self.seen(count).await.into_iter().filter_map(told).collect()
    }
}

/// Generous, so that it only ends a test that hangs.
pub(crate) async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(30), future).await.expect("it took too long")
}

/// The head of an answer, and the body if it has a length.
async fn read_head(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\n") {
        bytes.push(within(stream.read_u8()).await.unwrap());
    }
    let head = String::from_utf8(bytes).unwrap();
    let length = head
        .lines()
        .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ").map(str::to_owned));
    let mut body = vec![0; length.map_or(0, |digits| digits.trim().parse().unwrap())];
    within(stream.read_exact(&mut body)).await.unwrap();
    head + &String::from_utf8(body).unwrap()
}

/// Until the other side closes, however it does.
pub(crate) async fn read_all(stream: &mut (impl tokio::io::AsyncRead + Unpin)) -> String {
    let mut bytes = Vec::new();
    let _ = within(stream.read_to_end(&mut bytes)).await;
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A server that only listens, and all that it heard.
pub(crate) async fn listening() -> (SocketAddr, Arc<Mutex<Vec<u8>>>) {
    let listener = tokio::net::TcpListener::bind((OPENED, 0)).await.unwrap();
    let (address, heard) = (listener.local_addr().unwrap(), Arc::<Mutex<Vec<u8>>>::default());
    let all = Arc::clone(&heard);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let all = Arc::clone(&all);
            tokio::spawn(async move {
                let mut piece = [0; 4096];
                while let Ok(count @ 1..) = stream.read(&mut piece).await {
                    all.lock().unwrap().extend(&piece[..count]);
                }
            });
        }
    });
    (address, heard)
}

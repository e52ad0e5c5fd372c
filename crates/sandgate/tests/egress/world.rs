//! The world outside, and servers whose sandboxes look at it under a policy.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr as UnixAddress, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::LazyLock;
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustix::process::{Pid, Signal, kill_process};
use sandgate_core::random_hex;
use serde_json::{Value, json};
use tempfile::TempDir;

/// What the sandboxes under test may reach.
pub(crate) const POLICY: [&str; 4] = ["allowed.test", "*.wild.test", "*.lies.test:*", "raw.test:7000"];
/// The secret of a domain, which its server knows.
pub(crate) const TOKEN: &str = "token-that-no-sandbox-sees-7f3a";
/// No single step takes this long, however busy the machine: what does has hung.
const LONGEST: Duration = Duration::from_secs(150);

pub(crate) struct World {
    pub(crate) secret: String,
    pub(crate) good: Ipv4Addr,
    pub(crate) bad: Ipv4Addr,
    /// No sandbox may reach it, whatever its policy says.
    pub(crate) denied: Ipv4Addr,
    /// The name server.
    pub(crate) names: SocketAddr,
    /// A service on the host's loopback.
    pub(crate) host_port: u16,
    /// The same at an address of the host that is not loopback.
    pub(crate) own: SocketAddr,
    pub(crate) abstract_socket: String,
    /// The authority of all certificates, as a file.
    pub(crate) authority: PathBuf,
    folder: TempDir,
    _servers: (Child, ChildStdin),
    _socket: UnixListener,
}

/// One for all tests of this program: it listens on well-known ports.
pub(crate) static WORLD: LazyLock<World> = LazyLock::new(World::make);

impl World {
    fn make() -> Self {
        let secret = format!("SGSECRET{}", random_hex(12));
        // Addresses of its own, so that two runs on one machine do not meet.
        let [a, b] = std::process::id().to_be_bytes()[2..] else { unreachable!() };
        let at = |last| Ipv4Addr::new(127, 64 | (a & 63), b, last);
        let (good, bad, denied, names) = (at(1), at(2), at(4), SocketAddr::new(at(3).into(), 5353));
        let folder = TempDir::with_prefix("sandgate-egress-").unwrap();
        let authority = Authority::make(folder.path());
        let own = own_address();
        let settings = json!({
            "own": own,
            "good": good, "bad": bad, "denied": denied, "names": [names.ip(), names.port()],
            "secret": secret, "token": TOKEN,
            "good_certificate": authority.certificate("good", &["allowed.test", "*.wild.test"]),
            "bad_certificate": authority.certificate("bad", &["forbidden.test"]),
            "wheel_name": WHEEL, "wheel": wheel(folder.path()),
        });
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/egress/world.py");
        let mut process = Command::new("/usr/bin/python3")
            // Nothing is to be left beside the script.
            .arg("-B")
            .arg(script)
            .arg(settings.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut said).unwrap();
        let ports: Vec<u16> = said.split_whitespace().filter_map(|port| port.parse().ok()).collect();
        let [host_port, own_port] = ports[..] else { panic!("the world outside did not start") };
        let input = process.stdin.take().unwrap();
        let abstract_socket = format!("sandgate-egress-{}", random_hex(6));
        let address = UnixAddress::from_abstract_name(&abstract_socket).unwrap();
        let socket = UnixListener::bind_addr(&address).unwrap();
        let authority = authority.file;
        Self {
            secret,
            good,
            bad,
            denied,
            names,
            host_port,
            own: SocketAddr::new(own, own_port),
            abstract_socket,
            authority,
            folder,
            _servers: (process, input),
            _socket: socket,
        }
    }
}

/// By which this machine would talk to others; nothing is sent.
fn own_address() -> IpAddr {
    let probe = UdpSocket::bind("0.0.0.0:0").unwrap();
    probe.connect("192.0.2.1:9").expect("this machine has a network");
    probe.local_addr().unwrap().ip()
}

const WHEEL: &str = "sandgate_probe-1.0-py3-none-any.whl";

/// A package that pip takes, in hexadecimal.
fn wheel(folder: &Path) -> String {
    let path = folder.join(WHEEL);
    let script = "import sys, zipfile\n\
        with zipfile.ZipFile(sys.argv[1], 'w') as wheel:\n\
        \x20   wheel.writestr('sandgate_probe.py', 'WORD = \"installed\"\\n')\n\
        \x20   info = 'sandgate_probe-1.0.dist-info/'\n\
        \x20   wheel.writestr(info + 'METADATA', 'Metadata-Version: 2.1\\nName: sandgate-probe\\nVersion: 1.0\\n')\n\
        \x20   wheel.writestr(info + 'WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')\n\
        \x20   wheel.writestr(info + 'RECORD', '')\n";
    let made = Command::new("/usr/bin/python3").args(["-c", script]).arg(&path).status().unwrap();
    assert!(made.success());
    fs::read(path).unwrap().iter().map(|byte| format!("{byte:02x}")).collect()
}

struct Authority {
    issuer: Issuer<'static, KeyPair>,
    folder: PathBuf,
    file: PathBuf,
}

impl Authority {
    fn make(folder: &Path) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "the world's authority");
        let (key, file) = (KeyPair::generate().unwrap(), folder.join("authority.pem"));
        fs::write(&file, params.self_signed(&key).unwrap().pem()).unwrap();
        Self { issuer: Issuer::new(params, key), folder: folder.to_owned(), file }
    }

    /// The files of a certificate and its key.
    fn certificate(&self, name: &str, names: &[&str]) -> [PathBuf; 2] {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new(names).unwrap().signed_by(&key, &self.issuer).unwrap();
        let files = ["pem", "key"].map(|kind| self.folder.join(format!("{name}.{kind}")));
        fs::write(&files[0], certificate.pem()).unwrap();
        fs::write(&files[1], key.serialize_pem()).unwrap();
        files
    }
}

/// A home of its own, with the runtimes that all tests share.
pub(crate) fn home_with_runtimes(name: &str) -> PathBuf {
    let home = WORLD.folder.path().join(name);
    fs::create_dir(&home).unwrap();
    let below_target = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/test-home");
    let shared = std::env::var_os("SANDGATE_TEST_HOME").map_or_else(below_target, PathBuf::from);
    let runtimes = shared.join("runtimes");
    fs::create_dir_all(&runtimes).unwrap();
    std::os::unix::fs::symlink(runtimes.canonicalize().unwrap(), home.join("runtimes")).unwrap();
    home
}

/// A section `network` that says this, and where the world is.
pub(crate) fn network(more: &Value) -> Value {
    let World { good, bad, names, authority, .. } = &*WORLD;
    let mut network = json!({
        "allow_private": [format!("{good}/32"), format!("{bad}/32")], "dns": [names], "ca_file": authority,
    });
    network.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    network
}

/// A real server with this section `network`.
pub(crate) struct Server {
    process: Child,
    pub(crate) address: SocketAddr,
    pub(crate) home: PathBuf,
    /// Hears that the tests have ended, however they do, by its input.
    watcher: Option<Child>,
}

impl Server {
    /// What the tests are about: names of the world, and no more of the host than where the world is.
    pub(crate) fn under_policy(name: &str) -> Self {
        Self::start(name, &network(&json!({"ceiling": POLICY})))
    }

    pub(crate) fn start(name: &str, network: &Value) -> Self {
        let home = home_with_runtimes(name);
        Self::over(home, network)
    }

    /// Over what another one left.
    pub(crate) fn over(home: PathBuf, network: &Value) -> Self {
        Self::with(home, &json!({"network": network, "ledger": {"connections": true}, "pool": 2}))
    }

    /// With all that its configuration says.
    pub(crate) fn with(home: PathBuf, settings: &Value) -> Self {
        let config = home.join("config.json");
        fs::write(&config, settings.to_string()).unwrap();
        let mut process = Command::new(env!("CARGO_BIN_EXE_sandgate"))
            .args(["serve", "--listen", "127.0.0.1:0", "--config"])
            .arg(&config)
            .env("SANDGATE_HOME", &home)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut said).unwrap();
        let address = said.trim().rsplit_once("http://").and_then(|(_, address)| address.parse().ok());
        Self { process, address: address.expect("the server starts"), home, watcher: None }
    }

    /// For one in a static, which is never dropped: it is ended when the tests are over.
    pub(crate) fn ending_with_the_tests(mut self) -> Self {
        let watcher = Command::new("sh")
            .args(["-c", "cat; kill \"$1\"", "watch", &self.process.id().to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        self.watcher = Some(watcher.unwrap());
        self
    }

    /// Runs code in a container of its own that may reach `network`.
    pub(crate) fn run(&self, code: &str, network: &[&str]) -> Value {
        self.execute(&json!({"code": code, "network": network, "timeout": 120}))
    }

    pub(crate) fn execute(&self, body: &Value) -> Value {
        let (status, answer) = self.ask("POST", "/v1/execute", body);
        assert_eq!(status, 200, "{answer}");
        answer
    }

    pub(crate) fn ask(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let body = body.to_string();
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(LONGEST)).unwrap();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").expect("an answer");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        (status, serde_json::from_str(body).unwrap_or_else(|_| json!(body)))
    }

    pub(crate) fn metrics(&self) -> String {
        self.ask("GET", "/metrics", &Value::Null).1.as_str().unwrap_or_default().to_owned()
    }

    /// As a crash would.
    pub(crate) fn kill(mut self) -> PathBuf {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        self.home.clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(pid) = i32::try_from(self.process.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process(pid, Signal::TERM);
        }
        let _ = self.process.wait();
    }
}

/// Languages beside Python, for this server's sandboxes.
pub(crate) fn add_runtimes(server: &Server, tools: &[&str]) {
    for tool in tools {
        let mut add = Command::new(env!("CARGO_BIN_EXE_sandgate"));
        let added = add.args(["runtime", "add", tool]).env("SANDGATE_HOME", &server.home).status();
        assert!(added.unwrap().success(), "{tool} can be added");
    }
}

/// What the code printed; it must have ended well.
#[track_caller]
pub(crate) fn printed(answer: &Value) -> String {
    assert_eq!(answer["ending"]["kind"], "ok", "{answer:#}");
    answer["stdout"].as_str().unwrap_or_default().trim().to_owned()
}

//! Packages reach a sandbox through the server's cache: fetched once, checked, and never from elsewhere.

use std::sync::Arc;

use sandgate_core::network::{NetworkLimits, NetworkPolicy};
use sandgate_egress::{Egress, EgressConfig, RegistriesConfig, discover, registry_env};
use sandgate_testkit::network::Origin;
use sha2::{Digest, Sha256};

use crate::support::{Inside, World};

const WHEEL: &[u8] = b"the content of a wheel";

fn hex(content: &[u8]) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// More than the cache holds.
fn large() -> Vec<u8> {
    vec![7; 3 << 20]
}

/// A registry with one package, and a world whose egress uses it.
async fn world() -> (World, Origin, tempfile::TempDir) {
    let registry = Origin::http("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let page = format!("<a href=\"/f/six-1.0-py3-none-any.whl#sha256={}\">six</a>", hex(WHEEL));
    registry.put("/simple/six/", "text/html", page.as_bytes());
    registry.put("/f/six-1.0-py3-none-any.whl", "application/zip", WHEEL);
    let wrong = format!("<a href=\"/f/bad-1.0.tar.gz#sha256={}\">bad</a>", hex(b"something else"));
    registry.put("/simple/bad/", "text/html", wrong.as_bytes());
    registry.put("/f/bad-1.0.tar.gz", "application/gzip", WHEEL);
    let large = format!("<a href=\"/f/large-1.0.tar.gz#sha256={}\">large</a>", hex(&large()));
    registry.put("/simple/large/", "text/html", large.as_bytes());
    registry.put("/f/large-1.0.tar.gz", "application/gzip", &self::large());
    let folder = tempfile::tempdir().unwrap();
    let mut world = World::start().await;
    world.egress = egress(&registry, &folder, 1 << 20);
    (world, registry, folder)
}

fn egress(registry: &Origin, folder: &tempfile::TempDir, cache_bytes: u64) -> Arc<Egress> {
    let registries = RegistriesConfig {
        pip: Some(format!("http://{}/simple", registry.address())),
        cache: folder.path().to_owned(),
        cache_bytes,
        ..RegistriesConfig::default()
    };
    Egress::new(EgressConfig { registries: Some(registries), ..EgressConfig::default() }).unwrap()
}

fn sandbox(world: &World) -> Inside {
    let policy = NetworkPolicy::from_words(["registries"]).unwrap();
    world.sandbox_with(&policy, NetworkLimits::default())
}

async fn get(inside: &Inside, path: &str) -> String {
    inside.ask(&format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", inside.proxy)).await
}

fn file() -> String {
    format!("/pip/files/six/sha256-{}/six-1.0-py3-none-any.whl", hex(WHEEL))
}

#[tokio::test]
async fn a_package_is_fetched_once_for_all() {
    let (world, registry, _folder) = world().await;
    let inside = sandbox(&world);
    let page = get(&inside, "/pip/simple/six/").await;
    assert!(page.contains(&file()), "{page}");
    for _ in 0..2 {
        let got = get(&inside, &file()).await;
        assert!(got.contains("the content of a wheel"), "{got}");
    }
    let other = sandbox(&world);
    assert!(get(&other, &file()).await.contains("the content of a wheel"));
    let fetched = registry.asked().iter().filter(|asked| asked.target.starts_with("/f/")).count();
    assert_eq!(fetched, 1);
    assert!(inside.seen(3).await.iter().any(|seen| seen.received >= WHEEL.len() as u64));
}

/// Programs keep addresses of files in lock files, and ask for them without the page.
#[tokio::test]
async fn a_file_is_found_without_its_page_having_been_asked_for() {
    let (world, _registry, _folder) = world().await;
    assert!(get(&sandbox(&world), &file()).await.contains("the content of a wheel"));
    let of_another = file().replace("/six/", "/bad/");
    let (unfetched, _registry, _folder) = self::world().await;
    let answer = get(&sandbox(&unfetched), &of_another).await;
    assert!(answer.starts_with("HTTP/1.1 404") && answer.contains("names no such file"), "{answer}");
}

/// The real thing: pip, and the registry that pip on this host uses.
#[tokio::test]
async fn pip_installs_through_the_front_from_the_operators_registry() {
    let folder = tempfile::tempdir().unwrap();
    let (cache, target) = (folder.path().join("cache"), folder.path().join("target"));
    let asked =
        RegistriesConfig { cache: cache.clone(), cache_bytes: 1 << 30, ..RegistriesConfig::default() };
    let registries = tokio::task::spawn_blocking(|| discover(asked)).await.unwrap();
    assert!(registries.pip.is_some(), "pip on this host says where it gets packages from");
    let mut world = World::start().await;
    world.egress =
        Egress::new(EgressConfig { registries: Some(registries), ..EgressConfig::default() }).unwrap();
    for round in ["first", "second"] {
        let inside = sandbox(&world);
        let index =
            registry_env(inside.proxy).into_iter().find(|(name, _)| name == "PIP_INDEX_URL").unwrap().1;
        let target = target.join(round);
        let install = tokio::task::spawn_blocking(move || {
            let mut pip = std::process::Command::new("python3");
            pip.args([
                "-m",
                "pip",
                "--isolated",
                "install",
                "--quiet",
                "--no-cache-dir",
                "--no-deps",
                "--target",
            ]);
            pip.arg(target)
                .args(["--index-url", &index, "six==1.16.0"])
                .env("NO_PROXY", "*")
                .output()
                .unwrap()
        });
        let done = install.await.unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
    assert!(target.join("second/six.py").is_file());
    assert_eq!(std::fs::read_dir(cache).unwrap().count(), 1, "one file for both");
}

#[tokio::test]
async fn what_has_another_hash_is_neither_passed_on_nor_kept() {
    let (world, _registry, folder) = world().await;
    let inside = sandbox(&world);
    let page = get(&inside, "/pip/simple/bad/").await;
    let path = format!("/pip/files/bad/sha256-{}/bad-1.0.tar.gz", hex(b"something else"));
    assert!(page.contains(&path), "{page}");
    assert!(!get(&inside, &path).await.contains("the content of a wheel"));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn what_the_cache_has_no_room_for_is_passed_on_and_leaves_nothing() {
    let (world, _registry, folder) = world().await;
    let inside = sandbox(&world);
    get(&inside, "/pip/simple/large/").await;
    let got = get(&inside, &format!("/pip/files/large/sha256-{}/large-1.0.tar.gz", hex(&large()))).await;
    assert!(got.len() > large().len(), "{}", got.len());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn the_front_is_no_way_to_anything_else() {
    let (world, registry, _folder) = world().await;
    let inside = sandbox(&world);
    let unknown = format!("/pip/files/six/sha256-{}/x.whl", hex(b"never named"));
    for path in [
        unknown.as_str(),
        "/pip/simple/../secret",
        "/npm/left-pad",
        "/go/x/@latest",
        "/f/six-1.0-py3-none-any.whl",
    ] {
        let answer = get(&inside, path).await;
        assert!(answer.starts_with("HTTP/1.1 404"), "{path}: {answer}");
    }
    assert!(inside.connect(&registry.address().to_string()).await.1.contains(" 403 "));
    let closed =
        world.sandbox_with(&NetworkPolicy::from_words(["a.allowed.test"]).unwrap(), NetworkLimits::default());
    assert!(get(&closed, "/pip/simple/six/").await.starts_with("HTTP/1.1 400"));
    for (method, path) in [
        ("POST", "/pip/simple/six/"),
        ("PUT", "/npm/left-pad"),
        ("DELETE", "/npm/left-pad"),
        ("PUT", "/go/x/@latest"),
        ("DELETE", "/go/x/@v/v1.0.0.zip"),
    ] {
        let publish = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            inside.proxy
        );
        let answer = inside.ask(&publish).await;
        assert!(answer.starts_with("HTTP/1.1 405"), "{method} {path}: {answer}");
    }
    assert!(registry.asked().iter().all(|asked| asked.method == "GET"));
}

/// Packages are on the account of whoever has them, whether they are fetched or in the cache.
#[tokio::test]
async fn packages_are_no_faster_than_allowed_and_end_with_the_bytes() {
    let (mut world, registry, folder) = world().await;
    let content = vec![9; 2_500_000];
    let page = format!("<a href=\"/f/big-1.0.tar.gz#sha256={}\">big</a>", hex(&content));
    registry.put("/simple/big/", "text/html", page.as_bytes());
    registry.put("/f/big-1.0.tar.gz", "application/gzip", &content);
    world.egress = egress(&registry, &folder, 10 << 20);
    let path = format!("/pip/files/big/sha256-{}/big-1.0.tar.gz", hex(&content));
    let policy = NetworkPolicy::from_words(["registries"]).unwrap();
    let limits = NetworkLimits { bytes_per_second: Some(1_000_000), ..NetworkLimits::default() };
    for from in ["the registry", "the cache"] {
        let inside = world.sandbox_with(&policy, limits);
        get(&inside, "/pip/simple/big/").await;
        let began = std::time::Instant::now();
        let got = get(&inside, &path).await;
        assert!(got.len() > 2_500_000, "{from}: {}", got.len());
        assert!(began.elapsed().as_millis() > 1200, "faster than allowed from {from}: {:?}", began.elapsed());
    }
    let limits = NetworkLimits { bytes: Some(100_000), ..NetworkLimits::default() };
    let inside = world.sandbox_with(&policy, limits);
    get(&inside, "/pip/simple/big/").await;
    let cut = get(&inside, &path).await;
    assert!(cut.len() < 400_000, "{}", cut.len());
    let spent = get(&inside, &path).await;
    assert!(spent.starts_with("HTTP/1.1 429") && spent.contains("used up"), "{spent}");
}

/// A secret of that name would hide where packages are.
#[test]
fn no_secret_takes_the_place_of_their_variables() {
    for (name, _) in registry_env("127.0.0.1:3128".parse().unwrap()) {
        let secret = sandgate_core::Secret::new("12345678".to_owned());
        let made = sandgate_core::network::DomainSecret::new("a.example", name.clone(), secret);
        assert!(made.is_err(), "{name}");
    }
}

/// Whoever may publish at the registry could otherwise have the server fetch from the host's own services.
#[tokio::test]
async fn links_and_redirections_lead_to_no_address_that_nobody_may_reach() {
    let (world, registry, _folder) = world().await;
    let hidden = Origin::http("127.0.0.1:0".parse().unwrap()).await.unwrap();
    hidden.put("/hidden-1.0.tar.gz", "application/gzip", WHEEL);
    let port = hidden.address().port();
    let inside = sandbox(&world);
    let own = registry.address();
    for (project, link) in [
        ("by-address", format!("http://127.0.0.1:{port}/hidden-1.0.tar.gz")),
        ("by-name", format!("http://localhost:{port}/hidden-1.0.tar.gz")),
        ("by-six", format!("http://[::ffff:127.0.0.1]:{port}/hidden-1.0.tar.gz")),
        ("by-redirection", format!("http://{own}/redirect/http://127.0.0.1:{port}/hidden-1.0.tar.gz")),
    ] {
        let page = format!("<a href=\"{link}#sha256={}\">x</a>", hex(WHEEL));
        registry.put(&format!("/simple/{project}/"), "text/html", page.as_bytes());
        let path = format!("/pip/files/{project}/sha256-{}/hidden-1.0.tar.gz", hex(WHEEL));
        let answer = get(&inside, &path).await;
        assert!(answer.starts_with("HTTP/1.1 502"), "{project}: {answer}");
    }
    assert!(hidden.asked().is_empty(), "{:?}", hidden.asked());
    // Within the registry a redirection leads on.
    let page = format!("<a href=\"/redirect//f/six-1.0-py3-none-any.whl#sha256={}\">x</a>", hex(WHEEL));
    registry.put("/simple/within/", "text/html", page.as_bytes());
    let path = format!("/pip/files/within/sha256-{}/six-1.0-py3-none-any.whl", hex(WHEEL));
    let answer = get(&inside, &path).await;
    assert!(answer.contains("the content of a wheel"), "{answer}");
}

#[tokio::test]
async fn a_package_that_is_not_there_is_asked_for_once() {
    let registry = missing_everything().await;
    let folder = tempfile::tempdir().unwrap();
    let mut world = World::start().await;
    let registries = RegistriesConfig {
        pip: Some(format!("http://{}/simple", registry.0)),
        cache: folder.path().to_owned(),
        cache_bytes: 1 << 20,
        ..RegistriesConfig::default()
    };
    world.egress =
        Egress::new(EgressConfig { registries: Some(registries), ..EgressConfig::default() }).unwrap();
    let inside = sandbox(&world);
    for _ in 0..20 {
        assert!(get(&inside, "/pip/simple/none/").await.starts_with("HTTP/1.1 404"));
    }
    assert_eq!(registry.1.load(std::sync::atomic::Ordering::Relaxed), 1);
}

/// A registry that has nothing, and how often it was asked.
async fn missing_everything() -> (std::net::SocketAddr, std::sync::Arc<std::sync::atomic::AtomicUsize>) {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let asked = std::sync::Arc::<std::sync::atomic::AtomicUsize>::default();
    let count = std::sync::Arc::clone(&asked);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut head = [0; 4096];
            if stream.read(&mut head).await.is_ok_and(|read| read > 0) {
                count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            }
            let answer = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            let _ = stream.write_all(answer).await;
        }
    });
    (address, asked)
}

/// What installs asks a few hundred times; who asks on and on waits.
#[tokio::test]
async fn a_sandbox_does_not_ask_the_front_without_end() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let (world, _registry, _folder) = world().await;
    let inside = sandbox(&world);
    let mut stream = tokio::net::TcpStream::connect(inside.proxy).await.unwrap();
    let began = std::time::Instant::now();
    let request = format!("HEAD /pip/simple/six/ HTTP/1.1\r\nHost: {}\r\n\r\n", inside.proxy);
    for _ in 0..260 {
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.unwrap());
        }
        assert!(head.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&head));
    }
    assert!(began.elapsed() >= std::time::Duration::from_millis(400), "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_head_is_answered_without_the_file_being_fetched() {
    let (world, registry, _folder) = world().await;
    let inside = sandbox(&world);
    let request = format!("HEAD {} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", file(), inside.proxy);
    let answer = inside.ask(&request).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(!answer.to_lowercase().contains("content-length: 0"), "{answer}");
    assert!(registry.asked().iter().all(|asked| !asked.target.starts_with("/f/")), "{:?}", registry.asked());
}

#[tokio::test]
async fn a_download_ends_when_packages_may_not_be_had_any_more() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let (mut world, registry, folder) = world().await;
    let content = vec![7; 40 << 20];
    registry.put("/f/huge-1.0.tar.gz", "application/gzip", &content);
    let page = format!("<a href=\"/f/huge-1.0.tar.gz#sha256={}\">huge</a>", hex(&content));
    registry.put("/simple/huge/", "text/html", page.as_bytes());
    let registries = RegistriesConfig {
        pip: Some(format!("http://{}/simple", registry.address())),
        cache: folder.path().to_owned(),
        cache_bytes: 1 << 30,
        ..RegistriesConfig::default()
    };
    world.egress =
        Egress::new(EgressConfig { registries: Some(registries), ..EgressConfig::default() }).unwrap();
    let inside = sandbox(&world);
    let path = format!("/pip/files/huge/sha256-{}/huge-1.0.tar.gz", hex(&content));
    let mut stream = tokio::net::TcpStream::connect(inside.proxy).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", inside.proxy);
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut first = vec![0; 64 << 10];
    stream.read_exact(&mut first).await.unwrap();
    assert!(first.starts_with(b"HTTP/1.1 200"));
    inside.policy.exchange(NetworkPolicy::disabled());
    let rest = crate::support::read_all(&mut stream).await.len();
    assert!(rest < content.len() / 2, "{rest} bytes came after the change");
    let seen = inside.seen(1).await;
    assert!(format!("{:?}", seen[0].verdict).contains("Denied"), "{seen:?}");
}

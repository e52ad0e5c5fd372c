//! Installing from what was written down elsewhere, and from registries that do not behave.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sandgate_core::network::{NetworkLimits, NetworkPolicy};
use sandgate_egress::{Egress, EgressConfig, RegistriesConfig, discover, registry_env};
use sandgate_testkit::network::Origin;
use sha2::{Digest, Sha256, Sha512};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::{Inside, World, within};

const CONTENT: &[u8] = b"the content of a package";

fn hex(content: &[u8]) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

async fn inside(registry: SocketAddr, cache: &Path) -> (World, Inside) {
    let registries = RegistriesConfig {
        pip: Some(format!("http://{registry}/simple")),
        npm: Some(format!("http://{registry}/npm")),
        cache: cache.to_owned(),
        cache_bytes: 1 << 20,
        ..RegistriesConfig::default()
    };
    let mut world = World::start().await;
    world.egress =
        Egress::new(EgressConfig { registries: Some(registries), ..EgressConfig::default() }).unwrap();
    let inside = sandbox(&world);
    (world, inside)
}

fn sandbox(world: &World) -> Inside {
    world.sandbox_with(&NetworkPolicy::from_words(["registries"]).unwrap(), NetworkLimits::default())
}

async fn get(inside: &Inside, path: &str) -> String {
    inside.ask(&format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", inside.proxy)).await
}

#[tokio::test]
async fn a_tarball_is_had_at_the_address_that_lock_files_name() {
    let registry = Origin::http("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let integrity = format!("sha512-{}", STANDARD.encode(Sha512::digest(CONTENT)));
    for package in ["left-pad", "@scope/name"] {
        let dist = serde_json::json!({"tarball": format!("/f/{package}.tgz"), "integrity": integrity});
        let page = serde_json::json!({"versions": {"1.3.0": {"dist": dist}}}).to_string();
        registry.put(&format!("/npm/{package}"), "application/json", page.as_bytes());
        registry.put(&format!("/f/{package}.tgz"), "application/gzip", CONTENT);
    }
    let folder = tempfile::tempdir().unwrap();
    let (world, inside) = inside(registry.address(), folder.path()).await;
    for path in ["/npm/left-pad/-/left-pad-1.3.0.tgz", "/npm/@scope/name/-/name-1.3.0.tgz"] {
        for inside in [&inside, &sandbox(&world)] {
            let got = get(inside, path).await;
            assert!(got.starts_with("HTTP/1.1 200") && got.contains("the content of a package"), "{got}");
        }
        let page = get(&inside, path.split_once("/-/").unwrap().0).await;
        assert!(page.contains(&format!("http://{}{path}", inside.proxy)), "{page}");
    }
    assert_eq!(registry.asked().iter().filter(|asked| asked.target.starts_with("/f/")).count(), 1);
    let missing = get(&inside, "/npm/left-pad/-/left-pad-9.9.9.tgz").await;
    assert!(missing.starts_with("HTTP/1.1 404"), "{missing}");
}

#[tokio::test]
async fn what_a_wheel_says_of_itself_is_had_without_the_wheel() {
    let registry = Origin::http("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let (wheel, said) = (hex(b"a large wheel"), hex(CONTENT));
    let link = format!("href=\"/f/six-1.0.whl#sha256={wheel}\" data-core-metadata=\"sha256={said}\"");
    registry.put("/simple/six/", "text/html", format!("<a {link}>six</a>").as_bytes());
    registry.put("/f/six-1.0.whl.metadata", "text/plain", CONTENT);
    let folder = tempfile::tempdir().unwrap();
    let (_world, inside) = inside(registry.address(), folder.path()).await;
    let path = format!("/pip/files/six/sha256-{wheel}/six-1.0.whl.metadata");
    assert!(get(&inside, &path).await.contains("the content of a package"));
    assert!(folder.path().join(format!("sha256-{said}")).is_file());
    registry.put("/f/six-1.0.whl.metadata", "text/plain", b"something else");
    std::fs::remove_file(folder.path().join(format!("sha256-{said}"))).unwrap();
    assert!(!get(&inside, &path).await.contains("something else"), "its hash is another");
}

/// A registry whose one file stops in the middle.
async fn stopping() -> SocketAddr {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut head = [0; 4096];
                let count = stream.read(&mut head).await.unwrap();
                let answer = match head[..count].starts_with(b"GET /simple/") {
                    true => {
                        let page = format!("<a href=\"/f/slow-1.0.tar.gz#sha256={}\">x</a>", hex(CONTENT));
                        format!(
                            "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{page}",
                            page.len()
                        )
                    }
                    false => {
                        format!("HTTP/1.1 200 OK\r\nContent-Length: 900000\r\n\r\n{}", "z".repeat(600_000))
                    }
                };
                let _ = stream.write_all(answer.as_bytes()).await;
                std::future::pending::<()>().await;
            });
        }
    });
    address
}

/// Else a few of them would fill what may be on its way, for everybody and for good.
#[tokio::test]
async fn a_download_that_stops_is_given_up_when_its_reader_goes() {
    let registry = stopping().await;
    let folder = tempfile::tempdir().unwrap();
    let (_world, inside) = inside(registry, folder.path()).await;
    let path = format!("/pip/files/slow/sha256-{}/slow-1.0.tar.gz", hex(CONTENT));
    let mut stream = tokio::net::TcpStream::connect(inside.proxy).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", inside.proxy);
    stream.write_all(request.as_bytes()).await.unwrap();
    // All that comes, so that nothing but the registry is waited for.
    let mut piece = vec![0; 64 << 10];
    within(stream.read_exact(&mut piece)).await.unwrap();
    while tokio::time::timeout(Duration::from_secs(1), stream.read(&mut piece)).await.is_ok() {}
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    // With a reset, as a program that is killed in the middle of it leaves: an end alone could be that of its request.
    stream.set_zero_linger().unwrap();
    drop(stream);
    for _ in 0..500 {
        if std::fs::read_dir(folder.path()).unwrap().count() == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("what was fetched is still there");
}

/// The real thing: a lock that was made outside, with the real npm and the registry that npm on this host uses.
#[tokio::test]
async fn npm_installs_from_a_lock_that_was_made_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let asked = RegistriesConfig {
        cache: folder.path().join("cache"),
        cache_bytes: 1 << 30,
        ..RegistriesConfig::default()
    };
    let registries = tokio::task::spawn_blocking(|| discover(asked)).await.unwrap();
    let mut world = World::start().await;
    world.egress =
        Egress::new(EgressConfig { registries: Some(registries), ..EgressConfig::default() }).unwrap();
    let inside = sandbox(&world);
    let project = folder.path().join("project");
    std::fs::create_dir(&project).unwrap();
    let about = r#""name":"p","version":"1.0.0","dependencies":{"left-pad":"1.3.0"}"#;
    std::fs::write(project.join("package.json"), format!("{{{about}}}")).unwrap();
    let lock = format!(
        r#"{{"name":"p","version":"1.0.0","lockfileVersion":3,"requires":true,"packages":{{"":{{{about}}},
        "node_modules/left-pad":{{"version":"1.3.0",
        "resolved":"https://registry.npmjs.org/left-pad/-/left-pad-1.3.0.tgz",
        "integrity":"sha512-XI5MPzVNApjAyhQzphX8BkmKsKUxD4LdyK24iZeQGinBN9yTQT3bFlCBy/aVx2HrNcqQGsdot8ghrjyrvMCoEA=="}}}}}}"#
    );
    std::fs::write(project.join("package-lock.json"), lock).unwrap();
    let (env, home) = (registry_env(inside.proxy), folder.path().to_owned());
    let run = move |words: &'static [&'static str], at: std::path::PathBuf| {
        let (env, home) = (env.clone(), home.clone());
        tokio::task::spawn_blocking(move || {
            let mut npm = std::process::Command::new("npm");
            npm.args(words).current_dir(at).envs(env).env("NO_PROXY", "*").env("HOME", &home);
            npm.env("NPM_CONFIG_CACHE", home.join("npm-cache")).env("NPM_CONFIG_USERCONFIG", "/dev/null");
            npm.output().unwrap()
        })
    };
    let done = run(&["ci", "--fetch-retries=0"], project.clone()).await.unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert!(project.join("node_modules/left-pad/package.json").is_file());
    // And a lock that is made here names nothing of here.
    std::fs::remove_file(project.join("package-lock.json")).unwrap();
    let done = run(&["install", "--fetch-retries=0"], project.clone()).await.unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let made = std::fs::read_to_string(project.join("package-lock.json")).unwrap();
    assert!(made.contains("sha512-XI5MPzVNApj") && !made.contains("127.0.0.1"), "{made}");
}

//! Packages in real sandboxes under the policy `registries`, with the tools that people use: those of Python and npm
//! from the real registries that this host uses, those of Go from a proxy of modules outside.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::LazyLock;

use serde_json::{Value, json};

use crate::world::{Server, WORLD, add_runtimes, printed};

static SERVER: LazyLock<Server> = LazyLock::new(|| {
    let go = format!("http://{}/go", WORLD.good);
    let network = json!({"ceiling": ["registries"], "registries": {"go": go}});
    let server = Server::start("packages", &network).ending_with_the_tests();
    add_runtimes(&server, &["node", "go"]);
    server
});

fn install(language: &str, code: &str) -> Value {
    SERVER.execute(&json!({"code": code, "language": language, "network": ["registries"], "timeout": 140}))
}

/// What the cache holds, and whether it is still the same: what is fetched again comes in its place.
fn cached(begins: &str) -> Vec<(PathBuf, u64)> {
    let files = fs::read_dir(SERVER.home.join("packages")).unwrap().map(|file| file.unwrap());
    let mut found: Vec<_> = files
        .filter(|file| file.file_name().to_string_lossy().starts_with(begins))
        .map(|file| (file.path(), file.metadata().unwrap().ino()))
        .collect();
    found.sort();
    found
}

#[test]
fn pip_installs_from_the_real_registry_and_the_second_time_from_the_cache() {
    let code = "import subprocess, sys\n\
        done = subprocess.run([sys.executable, '-m', 'pip', 'install', '-q', 'six==1.16.0'],\n\
        \x20   capture_output=True, text=True, timeout=130)\n\
        assert done.returncode == 0, done.stderr\n\
        import six; print(six.__version__)";
    assert_eq!(printed(&install("python", code)), "1.16.0");
    // The beginning of this wheel's hash: others of the same server are for another test.
    let kept = cached("sha256-8abb2f1d8689");
    assert_eq!(kept.len(), 1, "{kept:?}");
    assert_eq!(printed(&install("python", code)), "1.16.0");
    assert_eq!(cached("sha256-8abb2f1d8689"), kept, "another sandbox, and nothing was fetched");
}

#[test]
fn npm_installs_from_the_real_registry_and_again_from_what_it_locked() {
    let code = "mkdir /tmp/n && cd /tmp/n && npm init -y > /dev/null\n\
        npm install --silent left-pad@1.3.0 @sindresorhus/is@4.6.0 2>&1\n\
        rm -r node_modules && npm ci --silent 2>&1\n\
        node -e \"console.log(require('left-pad')('x', 3, '-'), require('@sindresorhus/is').default(1))\"";
    assert_eq!(printed(&install("bash", code)), "--x number");
    let kept = cached("sha512-");
    assert_eq!(kept.len(), 2, "{kept:?}");
    assert_eq!(printed(&install("bash", code)), "--x number");
    assert_eq!(cached("sha512-"), kept, "another sandbox, and nothing was fetched");
}

#[test]
fn go_gets_modules_and_the_second_time_from_the_cache() {
    let code = "mkdir /tmp/g && cd /tmp/g && go mod init own 2> /dev/null\n\
        export GONOSUMDB=example.test\n\
        go get example.test/hello 2> /tmp/said || cat /tmp/said\n\
        printf 'package main\\nimport (\"fmt\"; \"example.test/hello\")\\nfunc main() { fmt.Println(hello.Word) }\\n' > m.go\n\
        go run .";
    for _ in 0..2 {
        assert_eq!(printed(&install("bash", code)), "installed");
    }
    assert_eq!(cached("go-").len(), 1);
    assert_eq!(fetched_outside(), "1");
}

/// How often the module's content was fetched.
fn fetched_outside() -> String {
    let mut stream = TcpStream::connect((WORLD.good, 80)).unwrap();
    stream.write_all(b"GET /go/zips HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
    let mut said = String::new();
    stream.read_to_string(&mut said).unwrap();
    said.rsplit("\r\n").next().unwrap().to_owned()
}

/// A network that is opened for a container that runs already reaches the context that runs in it.
#[test]
fn a_context_that_runs_already_gets_packages_too() {
    let first = SERVER.execute(&json!({"code": "kept = 41; import os; os.environ['OWN'] = 'mine'"}));
    let code = "import subprocess, sys, os\n\
        done = subprocess.run([sys.executable, '-m', 'pip', 'download', '-q', '--no-deps', '-d', '/tmp/d', 'iniconfig==2.0.0'],\n\
        \x20   capture_output=True, text=True, timeout=130)\n\
        print(done.returncode, done.stderr, kept + 1, os.environ['OWN'])";
    let body =
        json!({"code": code, "container": first["container"], "network": ["registries"], "timeout": 140});
    assert_eq!(printed(&SERVER.execute(&body)), "0  42 mine");
    let closed =
        json!({"code": "print('HTTP_PROXY' in os.environ)", "container": first["container"], "network": []});
    assert_eq!(printed(&SERVER.execute(&closed)), "False");
}

//! What a policy allows works with the programs that people use, whether they know of proxies or not.

use std::fs;
use std::sync::LazyLock;

use serde_json::{Value, json};

use crate::recorded::{records, ways};
use crate::world::{POLICY, Server, WORLD, add_runtimes, printed};

static SERVER: LazyLock<Server> = LazyLock::new(|| Server::under_policy("allowed").ending_with_the_tests());

/// What the code prints under the policy, with the authority of the world at `/tmp/ca.pem`.
fn under_policy(code: &str) -> String {
    printed(&run(code))
}

fn run(code: &str) -> Value {
    let authority = fs::read_to_string(&WORLD.authority).unwrap();
    SERVER.run(&format!("open('/tmp/ca.pem', 'w').write({authority:?})\n{code}"), &POLICY)
}

#[test]
fn urllib_goes_by_the_proxy_it_is_told_of() {
    let code = "import os, urllib.request\n\
        assert os.environ['HTTP_PROXY'] == os.environ['https_proxy'] == 'http://127.0.0.1:3128'\n\
        print(urllib.request.urlopen('http://allowed.test/', timeout=60).read().decode())";
    assert_eq!(under_policy(code), "GOOD");
}

#[test]
fn a_plain_socket_is_carried_without_knowing() {
    let code = "import socket\n\
        end = socket.create_connection(('allowed.test', 80), 60)\n\
        end.sendall(b'GET / HTTP/1.1\\r\\nHost: allowed.test\\r\\nConnection: close\\r\\n\\r\\n')\n\
        print(b''.join(iter(lambda: end.recv(4096), b'')).decode().splitlines()[-1])";
    assert_eq!(under_policy(code), "GOOD");
}

#[test]
fn any_protocol_on_a_port_that_the_policy_names() {
    let code = "import socket\n\
        end = socket.create_connection(('raw.test', 7000), 60)\n\
        end.sendall(b'hello'); print(end.recv(100).decode())";
    assert_eq!(under_policy(code), "hello");
}

#[test]
fn what_never_leaves_the_machine_is_not_paced() {
    let code = "import socket\n\
        end = socket.create_connection(('raw.test', 7000), 60)\n\
        print(end.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(b'\\0').decode())";
    assert_eq!(under_policy(code), "reno", "whatever the host has for the way to others");
}

#[test]
fn tls_is_between_the_program_and_its_server() {
    let code = "import ssl, socket, urllib.request\n\
        trust = ssl.create_default_context(cafile='/tmp/ca.pem')\n\
        print(urllib.request.urlopen('https://allowed.test/', timeout=60, context=trust).read().decode())\n\
        end = trust.wrap_socket(socket.create_connection(('a.wild.test', 443), 60), server_hostname='a.wild.test')\n\
        end.sendall(b'GET / HTTP/1.1\\r\\nHost: a.wild.test\\r\\nConnection: close\\r\\n\\r\\n')\n\
        print(b''.join(iter(lambda: end.recv(4096), b'')).decode().splitlines()[-1])";
    assert_eq!(under_policy(code), "GOOD\nGOOD");
}

#[test]
fn curl_with_and_without_the_proxy() {
    let code = "import subprocess\n\
        run = lambda *a: print(subprocess.run(a, capture_output=True, text=True, timeout=100).stdout)\n\
        run('curl', '-s', 'http://allowed.test/')\n\
        run('curl', '-s', '--noproxy', '*', 'http://allowed.test/')\n\
        run('curl', '-s', '--cacert', '/tmp/ca.pem', 'https://allowed.test/')\n\
        run('curl', '-s', '--noproxy', '*', '--cacert', '/tmp/ca.pem', 'https://allowed.test/')\n\
        run('curl', '-s', '--socks5-hostname', '127.0.0.1:1080', 'http://allowed.test/')";
    assert_eq!(under_policy(code).split_whitespace().collect::<Vec<_>>(), ["GOOD"; 5]);
}

#[test]
fn pip_installs_from_an_allowed_registry() {
    let code = "import subprocess, sys\n\
        done = subprocess.run([sys.executable, '-m', 'pip', 'install', '-q', '--index-url',\n\
        \x20   'https://allowed.test/simple/', '--cert', '/tmp/ca.pem', '--target', '/tmp/p', 'sandgate-probe'],\n\
        \x20   capture_output=True, text=True, timeout=110)\n\
        sys.path.insert(0, '/tmp/p')\n\
        assert done.returncode == 0, done.stderr\n\
        import sandgate_probe; print(sandgate_probe.WORD)";
    assert_eq!(under_policy(code), "installed");
}

#[test]
fn npm_installs_from_an_allowed_host_by_the_proxy() {
    add_runtimes(&SERVER, &["node"]);
    let code = "import os, subprocess\n\
        os.mkdir('/tmp/n'); os.environ['NODE_EXTRA_CA_CERTS'] = '/tmp/ca.pem'\n\
        def run(*words):\n\
        \x20   done = subprocess.run(words, cwd='/tmp/n', capture_output=True, text=True, timeout=110)\n\
        \x20   assert done.returncode == 0, done.stdout + done.stderr\n\
        \x20   return done.stdout\n\
        run('npm', 'init', '-y')\n\
        run('npm', 'install', '--no-audit', '--no-fund', 'https://allowed.test/p.tgz')\n\
        print(run('node', '-p', 'require(\"sandgate-probe\")'))";
    let done = run(code);
    assert_eq!(printed(&done), "installed");
    assert_eq!(ways(&records(&SERVER, &done["container"], 1)), ["connect".to_owned()].into());
}

/// Of what is refused to CONNECT, programs show the status line and nothing else. At once: whoever waits for a host that
/// does not answer waits for longer than these do.
#[test]
fn what_is_denied_is_said_at_once_and_in_words() {
    let code = "import urllib.request, urllib.error, socket\n\
        try: urllib.request.urlopen('http://forbidden.test/', timeout=10)\n\
        except urllib.error.HTTPError as error: print(error.code, error.read().decode())\n\
        try: urllib.request.urlopen('https://forbidden.test/', timeout=10)\n\
        except urllib.error.URLError as error: print(error)\n\
        for address in [('forbidden.test', 80), ('1.1.1.1', 443)]:\n\
        \x20   try: socket.create_connection(address, 10)\n\
        \x20   except TimeoutError: print('too late')\n\
        \x20   except OSError as error: print(error.strerror)";
    let said = under_policy(code);
    assert!(said.starts_with("403 "), "{said}");
    assert!(said.contains("no rule allows forbidden.test:80. To allow it"), "{said}");
    assert!(said.contains("no rule allows forbidden.test:443. To allow it"), "{said}");
    assert!(said.ends_with("Name or service not known\nNetwork is unreachable"), "{said}");
}

/// A range of addresses can be allowed too, and is then reached as it is.
#[test]
fn an_address_that_is_allowed_is_reached_as_it_is() {
    let (own, port) = (WORLD.own.ip(), WORLD.own.port());
    let target = format!("{own}:{port}");
    let network = json!({"ceiling": [target], "allow_private": [format!("{own}/32")], "dns": [WORLD.names]});
    let server = Server::start("address", &network);
    let code = format!(
        "import socket\n\
         def get(address):\n\
         \x20   end = socket.create_connection((address, {port}), 60)\n\
         \x20   end.sendall(b'GET / HTTP/1.1\\r\\nHost: {target}\\r\\nConnection: close\\r\\n\\r\\n')\n\
         \x20   return b''.join(iter(lambda: end.recv(4096), b'')).decode().splitlines()[-1]\n\
         print(get('{own}'))\n\
         try: get('203.0.113.7')\n\
         except OSError as error: print(error.strerror)"
    );
    let said = printed(&server.run(&code, &[&target]));
    assert_eq!(said, format!("{}\nNetwork is unreachable", WORLD.secret));
}

#[test]
fn without_a_policy_there_is_nothing() {
    let code = "import os, socket\n\
        print([name for name in os.environ if 'proxy' in name.lower()])\n\
        for address in [('127.0.0.1', 3128), ('127.0.0.1', 1080), ('127.0.0.1', 80), ('127.0.0.1', 53)]:\n\
        \x20   try: socket.create_connection(address, 60); print('open', address)\n\
        \x20   except ConnectionRefusedError: pass\n\
        try: socket.gethostbyname('allowed.test')\n\
        except socket.gaierror: print('no names')";
    assert_eq!(printed(&SERVER.execute(&json!({"code": code}))), "[]\nno names");
    assert_eq!(printed(&SERVER.run(code, &[])), "[]\nno names");
}

#[test]
fn nobody_gets_more_than_the_operator_allows() {
    for network in [json!("open"), json!(["forbidden.test"]), json!(["registries"]), json!(["127.0.0.1"])] {
        let (status, answer) = SERVER.ask("POST", "/v1/execute", &json!({"code": "1", "network": network}));
        assert_eq!(status, 400, "{answer}");
        assert!(answer.to_string().contains("operator"), "{answer}");
    }
}

/// Bash and Go know of proxies, or have one to go by; Node.js only when it is told to.
#[test]
fn other_languages_reach_what_is_allowed() {
    let go = "import (\"crypto/tls\"; \"crypto/x509\"; \"fmt\"; \"io\"; \"net/http\")\n\
        trust := x509.NewCertPool()\n\
        trust.AppendCertsFromPEM([]byte(`AUTHORITY`))\n\
        own := tls.Config{RootCAs: trust}\n\
        told := &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: &own}}\n\
        untold := &http.Client{Transport: &http.Transport{TLSClientConfig: &own}}\n\
        for _, client := range []*http.Client{told, untold} {\n\
        \x20   for _, url := range []string{\"http://allowed.test/\", \"https://allowed.test/\"} {\n\
        \x20       answer, err := client.Get(url)\n\
        \x20       if err != nil { panic(err) }\n\
        \x20       body, _ := io.ReadAll(answer.Body)\n\
        \x20       fmt.Println(string(body))\n\
        \x20   }\n\
        }";
    let node = "const https = require('https'), ca = `AUTHORITY`\n\
        console.log(await (await fetch('http://allowed.test/')).text())\n\
        console.log(await new Promise((done, failed) => https.get('https://allowed.test/', { ca }, (answer) => {\n\
        \x20   let text = ''; answer.on('data', (more) => { text += more }); answer.on('end', () => done(text))\n\
        }).on('error', failed)))";
    // By the proxy's variables, in a program of its own that is told to go by them.
    let told = "cat > /tmp/ca.pem <<'E'\nAUTHORITY\nE\n\
        export NODE_USE_ENV_PROXY=1 NODE_EXTRA_CA_CERTS=/tmp/ca.pem\n\
        ask() { node -e \"fetch('$1').then((answer) => answer.text()).then(console.log, console.log)\"; }\n\
        ask http://allowed.test/; ask https://allowed.test/";
    let bash = "exec 3<>/dev/tcp/allowed.test/80; printf 'GET / HTTP/1.0\\r\\nHost: allowed.test\\r\\n\\r\\n' >&3; tail -1 <&3";
    add_runtimes(&SERVER, &["node", "go"]);
    let authority = fs::read_to_string(&WORLD.authority).unwrap();
    for (language, code, times) in
        [("bash", bash, 1), ("javascript", node, 2), ("bash", told, 2), ("go", go, 4)]
    {
        let code = code.replace("AUTHORITY", authority.trim());
        let body = json!({"code": code, "language": language, "network": POLICY, "timeout": 120});
        let said = printed(&SERVER.execute(&body));
        assert_eq!(said.split_whitespace().collect::<Vec<_>>(), vec!["GOOD"; times], "{language}");
    }
}

/// One that begins with what may become a request, and waits for an answer to it.
#[test]
fn a_protocol_that_begins_with_a_word_gets_its_answer() {
    let code = "import socket\n\
        end = socket.create_connection(('raw.test', 7000), 60)\n\
        for word in [b'P', b'RINT', b' me', b'\\n', b'GET / HTTP/1.1']:\n\
        \x20   end.sendall(word); print(end.recv(100).decode(), end='')";
    assert_eq!(under_policy(code), "PRINT me\nGET / HTTP/1.1");
}

#[test]
fn requests_goes_by_the_proxy() {
    let code = "import requests\n\
        print(requests.get('http://allowed.test/', timeout=60).text)\n\
        print(requests.get('https://allowed.test/', timeout=60, verify='/tmp/ca.pem').text)\n\
        print(requests.get('http://forbidden.test/', timeout=60).status_code)";
    assert_eq!(under_policy(code), "GOOD\nGOOD\n403");
}

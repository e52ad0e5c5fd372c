//! Secrets of domains: used by code that never sees them, and found nowhere.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::world::{Server, TOKEN, printed};

/// Asks with what stands in the variable, as a program does that was told to use it.
const USE: &str = "import os, ssl, urllib.request\n\
    def ask(url):\n\
    \x20   bearer = {'Authorization': 'Bearer ' + os.environ['TOKEN']}\n\
    \x20   return urllib.request.urlopen(urllib.request.Request(url, headers=bearer), timeout=60).read().decode()\n\
    print(ask('https://allowed.test/token'))\n\
    try: print(ask('http://allowed.test/token'))\n\
    except OSError as error: print(error.code)\n\
    print(os.environ['TOKEN'])";

/// Asks a server that repeats what it hears, and prints all of its answer.
const REPEATED: &str = "import os, urllib.request\n\
    said = urllib.request.Request('https://allowed.test/echo', headers={'X-Said': os.environ['TOKEN']})\n\
    answer = urllib.request.urlopen(said, timeout=60)\n\
    print(answer.headers.items(), answer.read().decode())";

#[test]
fn code_uses_a_secret_that_it_does_not_know() {
    let server = Server::under_policy("secrets");
    let policy = json!({"type": "allowlist", "allowed_domains": ["allowed.test", "a.wild.test"],
        "domain_secrets": [{"domain": "allowed.test", "name": "TOKEN", "value": TOKEN}]});
    let wish = json!({"name": "with a secret", "network_policy": policy});
    let (status, made) = server.ask("POST", "/v1/containers", &wish);
    assert_eq!(status, 200, "{made}");
    let said = json!({"type": "allowlist", "allowed_domains": ["allowed.test", "a.wild.test"]});
    assert_eq!(made["network_policy"], said);
    let used = server.execute(&json!({"code": USE, "container": made["id"], "timeout": 100}));
    let lines: Vec<String> = printed(&used).lines().map(str::to_owned).collect();
    assert_eq!(lines[..2], ["right", "403"], "{used:#}");
    assert!(lines[2].starts_with("sandgate-secret-"), "{lines:?}");
    // To another domain the placeholder goes as it is, which is worth nothing.
    let other = USE.replace("https://allowed.test", "http://a.wild.test");
    let other = server.execute(&json!({"code": other, "container": made["id"], "timeout": 100}));
    assert!(printed(&other).starts_with("wrong"), "{other:#}");
    let repeated = server.execute(&json!({"code": REPEATED, "container": made["id"], "timeout": 100}));
    let heard = printed(&repeated);
    assert!(heard.contains(&format!("heard {}", lines[2])), "the server was asked: {heard}");
    assert!(!heard.to_lowercase().contains(TOKEN), "{heard}");
    let (_, written) = server.ask("GET", "/v1/ledger?limit=100", &json!(null));
    assert!(!written.to_string().contains(TOKEN), "{written}");
    let (_, shown) =
        server.ask("GET", &format!("/v1/containers/{}", made["id"].as_str().unwrap()), &json!(null));
    assert!(!shown.to_string().contains(TOKEN), "{shown}");
    let home = server.kill();
    assert_nowhere(&home);
}

/// Not on disk either: not in the store, nor in any file of the home.
fn assert_nowhere(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            assert_nowhere(&entry.path());
        } else if kind.is_file() {
            let content = fs::read(entry.path()).unwrap_or_default();
            let found = content.windows(TOKEN.len()).any(|part| part == TOKEN.as_bytes());
            assert!(!found, "the secret is in {}", entry.path().display());
        }
    }
}

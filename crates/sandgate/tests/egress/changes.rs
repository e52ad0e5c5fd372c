//! Changes of a policy that bring secrets, at an engine without a server: they count as a whole or not at all.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use sandgate_core::network::{DomainSecret, NetworkPolicy};
use sandgate_core::{Backend, ExecuteRequest, Outcome, Sandbox, SandboxPath, SandboxSpec, Secret};
use sandgate_engine::runtime::Silent;
use sandgate_engine::{EgressConfig, Engine, EngineConfig, NetworkConfig, Resolution};

use crate::world::{TOKEN, WORLD, home_with_runtimes};

fn policy(domains: &[&str]) -> NetworkPolicy {
    NetworkPolicy::from_words(domains.iter().copied()).unwrap()
}

fn with_secret(policy: NetworkPolicy) -> NetworkPolicy {
    let secret = DomainSecret::new("allowed.test", "TOKEN".to_owned(), Secret::new(TOKEN.to_owned()));
    NetworkPolicy { secrets: vec![secret.unwrap()], ..policy }
}

async fn engine(name: &str) -> Arc<Engine> {
    let egress = EgressConfig {
        resolution: Resolution::Servers(vec![WORLD.names]),
        allow_private: vec![format!("{}/32", WORLD.good).parse().unwrap()],
        trust_pem: Some(fs::read_to_string(&WORLD.authority).unwrap()),
        ..EgressConfig::default()
    };
    let config = EngineConfig {
        network: Some(NetworkConfig { egress, ..NetworkConfig::default() }),
        ..EngineConfig::new(home_with_runtimes(name), env!("CARGO_BIN_EXE_sandgate").into())
    };
    Engine::start(config, &Silent).await.unwrap()
}

async fn printed(sandbox: &Arc<dyn Sandbox>, code: &str) -> String {
    let request = ExecuteRequest {
        code: code.to_owned(),
        timeout: Some(Duration::from_secs(100)),
        ..ExecuteRequest::default()
    };
    let outcome = Outcome::collect(sandbox.execute(request).await.unwrap()).await.unwrap();
    outcome.stdout.trim().to_owned()
}

fn fetch(host: &str) -> String {
    format!(
        "import urllib.request, urllib.error\n\
         proxy = urllib.request.ProxyHandler({{'http': 'http://127.0.0.1:3128'}})\n\
         try: print(urllib.request.build_opener(proxy).open('http://{host}/', timeout=60).read().decode())\n\
         except urllib.error.HTTPError as error: print(error.code)"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_whose_certificates_cannot_be_written_opens_nothing() {
    let engine = engine("refused-change").await;
    let spec = SandboxSpec { network: policy(&["allowed.test"]), ..SandboxSpec::default() };
    let sandbox = engine.create(spec).await.unwrap();
    assert_eq!(printed(&sandbox, &fetch("allowed.test")).await, "GOOD");
    // As code does that puts a file where the folder of the certificates would be.
    let folder = SandboxPath::parse("/home/user/.sandgate").unwrap();
    sandbox.files().write(&folder, &mut &b"in the way"[..]).await.unwrap();
    let wider = with_secret(policy(&["allowed.test", "a.wild.test"]));
    sandbox.set_network(wider).await.unwrap_err();
    assert_eq!(printed(&sandbox, &fetch("a.wild.test")).await, "403");
    // And it keeps nobody from closing what is open.
    sandbox.set_network(policy(&["a.wild.test"])).await.unwrap();
    assert_eq!(printed(&sandbox, &fetch("allowed.test")).await, "403");
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_can_come_with_a_later_policy() {
    let engine = engine("later-secrets").await;
    let spec = SandboxSpec { network: policy(&["allowed.test"]), ..SandboxSpec::default() };
    let sandbox = engine.create(spec).await.unwrap();
    sandbox.set_network(with_secret(policy(&["allowed.test"]))).await.unwrap();
    let code = "import os, ssl, urllib.request\n\
        bearer = {'Authorization': 'Bearer ' + os.environ['TOKEN']}\n\
        request = urllib.request.Request('https://allowed.test/token', headers=bearer)\n\
        print(urllib.request.urlopen(request, timeout=60).read().decode())";
    assert_eq!(printed(&sandbox, code).await, "right");
}

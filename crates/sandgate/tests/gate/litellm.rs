//! The configurations of LiteLLM's announcement of the same thing, as they stand there, and the requests that it
//! shows. A second server is E2B, at names of a domain over TLS, and OpenSandbox; the variables by which the SDKs of
//! E2B and OpenAI are led elsewhere lead to it and to the scripted model.

use std::net::TcpListener;

use rustix::process::Signal;
use sandgate_testkit::Turn;
use serde_json::{Value, json};

use crate::common::{
    ACCOUNT, Client, OUTPUTS, World, account, container_of, items, left_at, logs, wait_until,
};

const E2B: &str = r#"
model_list:
  - model_name: gpt-5
    litellm_params:
      model: openai/gpt-5
      api_key: os.environ/OPENAI_API_KEY

sandbox_tools:
  - sandbox_tool_name: my-e2b
    litellm_params:
      sandbox_provider: e2b
      api_key: os.environ/E2B_API_KEY

litellm_settings:
  callbacks: ["code_interpreter_interception"]
  code_interpreter_interception_params:
    sandbox_tool_name: my-e2b
"#;

/// With the entry exchanged, as the same page says.
const OPENSANDBOX: &str = r#"
model_list:
  - model_name: gpt-5
    litellm_params:
      model: openai/gpt-5
      api_key: os.environ/OPENAI_API_KEY

sandbox_tools:
  - sandbox_tool_name: my-opensandbox
    litellm_params:
      sandbox_provider: opensandbox
      api_base: os.environ/OPEN_SANDBOX_API_BASE
      api_key: os.environ/OPEN_SANDBOX_API_KEY

litellm_settings:
  callbacks: ["code_interpreter_interception"]
  code_interpreter_interception_params:
    sandbox_tool_name: my-opensandbox
"#;

const MODEL_KEY: &str = "sk-of-the-model";
const MASTER: &str = "sk-1234-of-this-test";
const QUESTION: &str = "Product of first 6 primes. Just the number.";
const CODE: &str = "from math import prod\nprint(prod([2, 3, 5, 7, 11, 13]))";
const DOMAIN: &str = "sandboxes.localhost";

/// A gate over this file, with what an operator has in the environment.
fn gate(file: &str, of_the_provider: Vec<(&'static str, String)>) -> (World, Client) {
    let world = World::as_it_stands(file, |url| {
        let usual = [("OPENAI_API_KEY", MODEL_KEY), ("OPENAI_BASE_URL", url), ("LITELLM_MASTER_KEY", MASTER)];
        let usual = usual.into_iter().map(|(name, value)| (name, value.to_owned()));
        usual.chain(of_the_provider).collect()
    });
    let client = Client { key: MASTER.to_owned(), ..world.client([]) };
    (world, client)
}

/// A server that is E2B at a domain, and the variables that lead there.
fn far_e2b() -> (World, Vec<(&'static str, String)>) {
    let free = TcpListener::bind("127.0.0.1:0").expect("a free port").local_addr().expect("its number");
    let domain = format!("{DOMAIN}:{}", free.port());
    let far = World::with(
        "responses",
        &format!("e2b: {{domain: '{domain}', listen: '{free}', self_signed: true}}"),
    );
    let authority = far.home().join("authority/ca.pem").display().to_string();
    let variables =
        vec![("E2B_API_KEY", ACCOUNT.to_owned()), ("E2B_DOMAIN", domain), ("SSL_CERT_FILE", authority)];
    (far, variables)
}

fn far_opensandbox() -> (World, Vec<(&'static str, String)>) {
    let far = World::with("responses", "");
    let base = format!("http://{}/v1", account(&far).address);
    (far, vec![("OPEN_SANDBOX_API_BASE", base), ("OPEN_SANDBOX_API_KEY", ACCOUNT.to_owned())])
}

/// What the page asks, in both APIs; the code runs at the provider, and the answer comes from what it printed.
fn asks_as_shown(world: &World, client: &Client, far: &World) {
    world
        .model
        .script(MODEL_KEY, [Turn::code(CODE), Turn::text("30030"), Turn::code(CODE), Turn::text("30030")]);
    let response = client.respond(json!({"model": "gpt-5", "input": QUESTION, "include": [OUTPUTS]}));
    assert_eq!(logs(&response), "30030\n", "{response}");
    assert_eq!(items(&response, "message")[0]["content"][0]["text"], "30030");
    assert_eq!(left_at(far), 1);
    let whole =
        client.complete(json!({"model": "gpt-5", "messages": [{"role": "user", "content": QUESTION}]}));
    assert_eq!(whole["choices"][0]["message"]["content"], "30030", "{whole}");
    assert_eq!(left_at(far), 2);
    let bodies: Vec<Value> = world.model.requests(MODEL_KEY).into_iter().map(|asked| asked.body).collect();
    assert!(bodies[1].to_string().contains("30030") && bodies[3].to_string().contains("30030"), "{bodies:?}");
    let violations = world.model.violations_of(MODEL_KEY);
    assert!(violations.is_empty(), "{violations:?}");
    // Only who has the operator's key is let in, and no secret is told.
    assert_eq!(client.stranger().create(json!({"model": "gpt-5"})).status, 401);
    let log = world.log();
    for secret in [ACCOUNT, MODEL_KEY, MASTER] {
        assert!(!log.contains(secret), "{log}");
    }
    client.delete(&format!("/v1/containers/{}", container_of(&response))).ok();
    assert_eq!(left_at(far), 1);
}

#[test]
fn the_file_for_e2b_runs_as_it_stands_and_leaves_nothing() {
    let (far, variables) = far_e2b();
    let (mut world, client) = gate(E2B, variables);
    asks_as_shown(&world, &client, &far);
    assert!(world.log().contains("backend 'my-e2b' is E2B at sandboxes.localhost"), "{}", world.log());
    // What is still used goes with the gate.
    world.signal(Signal::TERM);
    assert!(world.ended().success());
    wait_until("nothing is left at the provider", || left_at(&far) == 0);
}

#[test]
fn the_file_for_opensandbox_runs_as_it_stands_and_leaves_nothing() {
    let (far, variables) = far_opensandbox();
    let (mut world, client) = gate(OPENSANDBOX, variables);
    asks_as_shown(&world, &client, &far);
    world.signal(Signal::TERM);
    assert!(world.ended().success());
    wait_until("nothing is left at the provider", || left_at(&far) == 0);
}

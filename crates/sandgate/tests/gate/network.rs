//! What code reaches in the containers that requests make: what the request says, and no more than the operator allows.

use std::net::SocketAddr;
use std::sync::LazyLock;

use sandgate_testkit::Turn;
use sandgate_testkit::network::{LyingDns, Origin};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::common::{OUTPUTS, World, logs};

/// What is outside lives here.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().unwrap());

/// An address of the host's loopback that no other test has.
const PLACE: &str = "127.93.7.1";
const FETCH: &str = "import urllib.request\n\
    try: print(urllib.request.urlopen('http://svc.test/page', timeout=60).read().decode())\n\
    except OSError as error: print('closed')";

/// A server whose sandboxes may reach svc.test, and svc.test.
struct Outside {
    world: World,
    service: Origin,
    _dns: LyingDns,
}

impl Outside {
    fn of(api: &str) -> Self {
        let (service, dns) = RUNTIME.block_on(async {
            let place: SocketAddr = format!("{PLACE}:0").parse().unwrap();
            let dns = LyingDns::start("127.0.0.1:0".parse().unwrap()).await.unwrap();
            dns.answer("svc.test", &[PLACE]);
            (Origin::http(place).await.unwrap(), dns)
        });
        let network = format!(
            "network: {{ceiling: ['svc.test:{}'], allow_private: [{PLACE}/32], dns: ['{}']}}",
            service.address().port(),
            dns.address()
        );
        Self { world: World::with(api, &network), service, _dns: dns }
    }

    fn code(&self) -> String {
        FETCH.replace("svc.test/", &format!("svc.test:{}/", self.service.address().port()))
    }

    /// The code tool with a container that may reach this.
    fn tools(&self, host: &str) -> Value {
        let host = format!("{host}:{}", self.service.address().port());
        let policy = json!({"type": "allowlist", "allowed_domains": [host]});
        json!([{"type": "code_interpreter", "container": {"type": "auto", "network_policy": policy}}])
    }

    fn turns(&self) -> [Turn; 2] {
        [Turn::code(self.code()), Turn::text("ok")]
    }
}

#[test]
fn a_container_of_responses_reaches_what_its_request_allows() {
    let outside = Outside::of("responses");
    let ask = |tools: Value| {
        let client = outside.world.client(outside.turns());
        logs(&client.respond(json!({"tools": tools, "include": [OUTPUTS]})))
    };
    assert!(ask(outside.tools("svc.test")).contains("GET /page"));
    assert_eq!(ask(crate::common::code_tool()), "closed\n", "who asks for nothing has nothing");
    assert_eq!(outside.service.asked().len(), 1);
}

/// In front of both kinds of upstream.
#[test]
fn a_container_of_chat_completions_reaches_what_its_request_allows() {
    for api in ["responses", "chat"] {
        let outside = Outside::of(api);
        let ask = |fields: Value| {
            let client = outside.world.client(outside.turns());
            let whole = client.complete(fields);
            whole["choices"][0]["message"]["code_interpreter"]["calls"][0]["outputs"][0]["logs"]
                .as_str()
                .unwrap()
                .to_owned()
        };
        assert!(ask(json!({"tools": outside.tools("svc.test")})).contains("GET /page"), "{api}");
        assert_eq!(ask(json!({})), "closed\n", "{api}");
        assert_eq!(outside.service.asked().len(), 1, "{api}");
    }
}

#[test]
fn a_request_for_more_than_the_operator_allows_is_refused_before_a_model_is_asked() {
    let outside = Outside::of("responses");
    let client = outside.world.client(outside.turns());
    let fields = || json!({"tools": outside.tools("other.test")});
    for answer in [client.create(fields()), client.create_stream(fields()), client.chat(fields())] {
        let error = answer.refused(400);
        assert_eq!(error["param"], "tools[0].container.network_policy", "{error}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("operator") && message.contains("other.test"), "{error}");
    }
    assert!(outside.world.asked(&client).is_empty());
}

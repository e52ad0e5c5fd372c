//! E2B's protocol against a server that answers as its contract says, or does not.

use std::collections::BTreeMap;
use std::time::Duration;

use sandgate_core::Secret;
use serde_json::json;

use super::E2b;
use crate::http::test_server::{Asked, JSON, TestServer};
use crate::{
    Deadlines, E2bSettings, NetworkWish, Provider, ProviderError, ProviderResult, Reach, Run, RunEnd, Said,
    Wish,
};

const MADE: &str = r#"{"sandboxID":"iabc","templateID":"t","clientID":"c","envdVersion":"0.6.13",
    "envdAccessToken":"ea_secret","trafficAccessToken":"ta_secret","domain":null}"#;
const FOLDER: &str =
    r#"{"entry":{"path":"/mnt/data","type":"FILE_TYPE_DIRECTORY","mode":511,"owner":"user"}}"#;

fn provider(server: &TestServer) -> E2b {
    let url = format!("http://{}/e2b", server.host);
    let deadlines = Deadlines { answer: Duration::from_secs(2), ..Deadlines::default() };
    let settings = E2bSettings {
        api_url: Some(url.clone()),
        domain: None,
        sandbox_url: Some(url),
        api_key: Secret::new("e2b_key".to_owned()),
        template: "code-interpreter-v1".to_owned(),
        deadlines,
        reach: Reach::default(),
    };
    E2b::new(settings).unwrap()
}

fn wish(network: NetworkWish) -> Wish {
    Wish {
        memory_bytes: None,
        cpu_millis: None,
        disk_bytes: None,
        network,
        life: Duration::from_millis(90_500),
        env: vec![("A".to_owned(), "1".to_owned())],
        metadata: BTreeMap::from([("gate".to_owned(), "g".to_owned())]),
    }
}

/// All goes well, with this answer to `/execute`.
fn well(asked: &Asked, said: &str) -> (u16, &'static str, String) {
    match asked.path.as_str() {
        "/e2b/v2/sandboxes" => (201, JSON, MADE.to_owned()),
        "/e2b/filesystem.Filesystem/Stat" => (200, JSON, FOLDER.to_owned()),
        "/e2b/execute" => (200, "application/x-ndjson", said.to_owned()),
        _ => (204, JSON, String::new()),
    }
}

async fn run(said: &'static str) -> Vec<ProviderResult<Said>> {
    let server = TestServer::start(move |asked| well(asked, said)).await;
    let place = provider(&server).create(&wish(NetworkWish::Nothing)).await.unwrap();
    let run =
        Run { code: "1".to_owned(), timeout: Duration::from_secs(5), output_bytes: 1000, ..Run::default() };
    let mut running = place.execute(run).await.unwrap();
    let mut all = Vec::new();
    while let Some(said) = running.said.recv().await {
        all.push(said);
    }
    all
}

#[tokio::test]
async fn a_sandbox_is_asked_for_as_the_contract_has_it() {
    let server = TestServer::start(|asked| well(asked, "")).await;
    let only = NetworkWish::Only(vec!["example.org".to_owned()]);
    let place = provider(&server).create(&wish(only)).await.unwrap();
    assert_eq!(place.id().as_str(), "iabc");
    place.furnish("/mnt/data").await.unwrap();
    let asked = server.asked();
    assert_eq!(asked[0].line(), "POST /e2b/v2/sandboxes");
    assert_eq!(asked[0].headers["x-api-key"], "e2b_key");
    let body = json!({
        "templateID": "code-interpreter-v1", "timeout": 91, "metadata": {"gate": "g"}, "envVars": {"A": "1"},
        "allow_internet_access": true,
        "network": {"allowPublicTraffic": false, "allowOut": ["example.org"], "denyOut": ["0.0.0.0/0"]},
    });
    assert_eq!(asked[0].json(), body);
    // The account's key is not for a sandbox; its own token is.
    assert!(!asked[1].headers.contains_key("x-api-key"));
    assert_eq!(
        (&asked[1].headers["x-access-token"], &asked[1].headers["e2b-sandbox-id"]),
        (&"ea_secret".parse().unwrap(), &"iabc".parse().unwrap())
    );
}

#[tokio::test]
async fn a_server_of_the_first_version_is_spoken_to_in_it() {
    let server = TestServer::start(|asked| match asked.path.as_str() {
        "/e2b/v2/sandboxes" => (405, JSON, r#"{"code":405,"message":"no"}"#.to_owned()),
        "/e2b/sandboxes" => (201, JSON, MADE.to_owned()),
        _ => well(asked, ""),
    })
    .await;
    let provider = provider(&server);
    provider.create(&wish(NetworkWish::Nothing)).await.unwrap();
    provider.create(&wish(NetworkWish::Nothing)).await.unwrap();
    let made: Vec<Asked> =
        server.asked().into_iter().filter(|asked| asked.path.ends_with("/sandboxes")).collect();
    let paths: Vec<&str> = made.iter().map(|asked| asked.path.as_str()).collect();
    assert_eq!(paths, ["/e2b/v2/sandboxes", "/e2b/sandboxes", "/e2b/sandboxes"]);
    assert_eq!((&made[0].json()["secure"], &made[1].json()["secure"]), (&json!(null), &json!(true)));
    assert_eq!(made[1].json()["allow_internet_access"], false);
}

/// Lists by the second version; makes and connects by the first alone.
fn mixed(asked: &Asked, unknown: u16) -> (u16, &'static str, String) {
    match asked.path.as_str() {
        "/e2b/sandboxes" | "/e2b/sandboxes/iabc/connect" => (201, JSON, MADE.to_owned()),
        path if path.starts_with("/e2b/v2/sandboxes?") => (200, JSON, "[]".to_owned()),
        _ => (unknown, JSON, r#"{"code":404,"message":"no such path"}"#.to_owned()),
    }
}

#[tokio::test]
async fn a_server_that_lists_by_the_second_version_may_make_by_the_first() {
    for unknown in [404, 405] {
        let server = TestServer::start(move |asked| mixed(asked, unknown)).await;
        let provider = provider(&server);
        provider.find(&BTreeMap::new()).await.unwrap();
        let place = provider.create(&wish(NetworkWish::Nothing)).await.unwrap();
        provider.attach(place.id(), Duration::from_secs(60)).await.unwrap();
        provider.attach(place.id(), Duration::from_secs(60)).await.unwrap();
        provider.find(&BTreeMap::new()).await.unwrap();
        let paths: Vec<String> = server.lines().into_iter().skip(1).collect();
        let expected = [
            "POST /e2b/v2/sandboxes",
            "POST /e2b/sandboxes",
            "POST /e2b/v2/sandboxes/iabc/connect",
            "POST /e2b/sandboxes/iabc/connect",
            "POST /e2b/sandboxes/iabc/connect",
        ];
        assert_eq!(paths[..5], expected);
        assert!(paths[5].starts_with("GET /e2b/v2/sandboxes?"), "{paths:?}");
    }
}

#[tokio::test]
async fn a_template_that_is_not_there_is_told_in_the_servers_words() {
    let server = TestServer::start(|asked| match asked.path.as_str() {
        "/e2b/v2/sandboxes" => (404, JSON, r#"{"code":404,"message":"template 'x' not found"}"#.to_owned()),
        _ => (404, JSON, r#"{"code":404,"message":"no such path"}"#.to_owned()),
    })
    .await;
    let error = provider(&server).create(&wish(NetworkWish::Nothing)).await.unwrap_err();
    assert!(error.to_string().contains("template 'x' not found"), "{error}");
}

#[tokio::test]
async fn a_folder_that_cannot_be_looked_at_is_an_error() {
    let server = TestServer::start(|asked| match asked.path.as_str() {
        "/e2b/filesystem.Filesystem/Stat" => {
            (500, JSON, r#"{"code":"internal","message":"broken"}"#.to_owned())
        }
        _ => well(asked, ""),
    })
    .await;
    let place = provider(&server).create(&wish(NetworkWish::Nothing)).await.unwrap();
    let error = place.furnish("/mnt/data").await.unwrap_err();
    assert!(matches!(error, ProviderError::Failed(_)), "{error}");
}

#[tokio::test]
async fn an_id_that_leads_elsewhere_is_garbage() {
    let server = TestServer::start(|_| (201, JSON, r#"{"sandboxID":"../../admin"}"#.to_owned())).await;
    let error = provider(&server).create(&wish(NetworkWish::Nothing)).await.unwrap_err();
    assert!(matches!(error, ProviderError::Garbage(_)), "{error}");
    assert_eq!(server.lines().len(), 1);
}

#[tokio::test]
async fn only_what_carries_our_name_is_found() {
    let server = TestServer::start(|_| {
        let all = json!([
            {"sandboxID": "iours-machine", "state": "paused", "metadata": {"gate": "a b&c=d", "more": "x"}},
            {"sandboxID": "iforeign", "state": "running", "metadata": {"gate": "other"}},
            {"sandboxID": "inone", "state": "running"},
        ]);
        (200, JSON, all.to_string())
    })
    .await;
    let ours = BTreeMap::from([("gate".to_owned(), "a b&c=d".to_owned())]);
    let found = provider(&server).find(&ours).await.unwrap();
    assert_eq!(found.iter().map(|found| found.id.as_str()).collect::<Vec<_>>(), ["iours"]);
    let query = "metadata=gate%3Da%252520b%252526c%25253Dd&state=running%2Cpaused&limit=100";
    assert_eq!(server.lines(), [format!("GET /e2b/v2/sandboxes?{query}")]);
}

#[tokio::test]
async fn a_sandbox_is_found_under_the_id_that_it_was_made_with() {
    let server = TestServer::start(|_| {
        let all = json!([
            {"sandboxID": "1b9d-4bad", "clientID": "machine"},
            {"sandboxID": "1b9d-4bae", "clientID": ""},
            {"sandboxID": "iold-machine-1", "clientID": "machine-1"},
            {"sandboxID": "-machine", "clientID": "machine"},
        ]);
        (200, JSON, all.to_string())
    })
    .await;
    let found = provider(&server).find(&BTreeMap::new()).await.unwrap();
    let ids: Vec<&str> = found.iter().map(|found| found.id.as_str()).collect();
    assert_eq!(ids, ["1b9d-4bad", "1b9d-4bae", "iold", "-machine"]);
}

#[tokio::test]
async fn what_a_run_says_is_understood() {
    let said = run(concat!(
        r#"{"type":"number_of_executions","execution_count":3}"#,
        "\n",
        r#"{"type":"stdout","text":"hi","timestamp":"x"}"#,
        "\n",
        r#"{"type":"something_new","x":1}"#,
        "\n",
        r#"{"type":"keepalive"}"#,
        "\n",
        r#"{"type":"result","png":"AAAA","chart":{"type":"line"},"extra":{"a/b":1},"is_main_result":false}"#,
        "\n",
        r#"{"type":"result","text":"42","is_main_result":true}"#,
        "\n",
        r#"{"type":"error","name":"E","value":"v","traceback":"one\ntwo"}"#,
        "\n",
        r#"{"type":"end_of_execution"}"#,
        "\n",
    ))
    .await;
    let said: Vec<Said> = said.into_iter().map(Result::unwrap).collect();
    assert_eq!(said.len(), 6, "{said:?}");
    assert_eq!((&said[0], &said[1]), (&Said::Count(3), &Said::Stdout("hi".to_owned())));
    let shown = json!({"image/png": "AAAA", "e2b/chart": {"type": "line"}, "a/b": 1});
    assert_eq!(said[2], Said::Shown(shown.as_object().unwrap().clone()));
    assert_eq!(said[3], Said::Value(json!({"text/plain": "42"}).as_object().unwrap().clone()));
    let Said::Raised(error) = &said[4] else { panic!("{said:?}") };
    assert_eq!((error.name.as_str(), error.traceback.len()), ("E", 2));
    assert_eq!(said[5], Said::Ended(RunEnd::Finished));
}

#[tokio::test]
async fn a_run_that_ends_badly_says_how() {
    let died = "{\"type\":\"error\",\"name\":\"UnexpectedEndOfExecution\",\"value\":\"killed\"}\n{\"type\":\"end_of_execution\"}\n";
    assert_eq!(run(died).await, [Ok(Said::Ended(RunEnd::Died("killed".to_owned())))]);
    assert!(matches!(
        run("{\"type\":\"stdout\",\"text\":\"x\"}\n").await[..],
        [Ok(_), Err(ProviderError::Unreachable(_))]
    ));
    assert!(matches!(run("<html>\n").await[..], [Err(ProviderError::Garbage(_))]));
    const MUCH: &str = concat!(r#"{"type":"stdout","text":"0123456789"}"#, "\n");
    let much: &'static str = Box::leak(MUCH.repeat(200).into_boxed_str());
    assert!(matches!(run(much).await.last(), Some(Err(ProviderError::TooLarge { limit: 1000, .. }))));
    // In one line as in many.
    let long: &'static str = Box::leak("x".repeat(2 << 20).into_boxed_str());
    assert!(matches!(run(long).await[..], [Err(ProviderError::TooLarge { .. })]));
}

#[tokio::test]
async fn a_sandbox_that_is_gone_is_lost() {
    let server = TestServer::start(|asked| match asked.path.as_str() {
        "/e2b/execute" => {
            (502, JSON, r#"{"sandboxId":"iabc","message":"The sandbox was not found","code":502}"#.to_owned())
        }
        "/e2b/v2/sandboxes/iabc/connect" | "/e2b/sandboxes/iabc/connect" | "/e2b/sandboxes/iabc" => {
            (404, JSON, r#"{"code":404,"message":"no"}"#.to_owned())
        }
        _ => well(asked, ""),
    })
    .await;
    let provider = provider(&server);
    let place = provider.create(&wish(NetworkWish::Nothing)).await.unwrap();
    let run = Run { timeout: Duration::from_secs(1), ..Run::default() };
    assert_eq!(place.execute(run).await.unwrap_err(), ProviderError::Lost);
    assert_eq!(provider.attach(place.id(), Duration::from_secs(60)).await.unwrap_err(), ProviderError::Lost);
    assert_eq!(provider.state(place.id()).await, Err(ProviderError::Lost));
    assert_eq!(provider.delete(place.id()).await, Ok(()));
}

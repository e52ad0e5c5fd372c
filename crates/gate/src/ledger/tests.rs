//! Requests and what is done for them, from the calls of the gate to the rows of the store.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt, stream};
use http::HeaderMap;
use sandgate_core::testing::ScriptedBackend;
use sandgate_core::{
    Containers, ContainersConfig, ExecuteRequest, KeyLimits, MemoryRegistry, NewContainer, Owner, Principal,
    Rank,
};
use sandgate_store::{LedgerFilter, LedgerRecord, Page};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::approvals::Approvals;
use crate::executions::{Asker, Crowd, Executions, Manner};
use crate::upstream::{Asked, Credentials, Turn, TurnRequest, UpstreamError};

const MARK: &str = "mark-of-the-code";

struct World {
    ledger: Ledger,
    store: Store,
    home: TempDir,
    containers: Arc<Containers>,
}

async fn world(config: LedgerConfig) -> World {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path()).await.unwrap();
    let backend = Arc::new(ScriptedBackend::default());
    let registry = Arc::new(MemoryRegistry::default());
    let containers = Containers::open(backend, registry, ContainersConfig::default()).await.unwrap();
    World { ledger: Ledger::new(store.clone(), config), store, home, containers: Arc::new(containers) }
}

impl World {
    fn call(&self, limits: KeyLimits) -> Call {
        let who = Principal {
            owner: Owner::of_key("a"),
            rank: Rank::Key("key_a".into()),
            limits: Arc::new(limits),
        };
        Call::new(&self.ledger, &NewCall { who: &who, request_id: "req_1", api: "execute", path: "/v1/x" })
    }

    async fn records(&self) -> Vec<LedgerRecord> {
        self.ledger.flush().await;
        let page = Page { limit: 100, descending: false, after: None, before: None };
        self.store.ledger(&LedgerFilter::default(), &page).await.unwrap().data
    }

    async fn run(&self, call: Call, code: &str) -> Result<crate::executions::Running, crate::NotRun> {
        let who = Principal::open(Owner::of_key("a"));
        let asker = Asker { call, ..Asker::new(&who, "req_1".into(), "execute") };
        let new = NewContainer { owner: who.owner, ..NewContainer::default() };
        let container = self.containers.create(new).await.unwrap();
        let executions = Executions::new(Arc::clone(&self.containers), Approvals::none());
        let run = ExecuteRequest { code: code.to_owned(), ..ExecuteRequest::default() };
        let manner = Manner { crowd: Crowd::Refuse, makes_context: false };
        executions.start(&asker, &container, run, manner).await
    }

    /// Everything that is in the files of the database.
    fn bytes(&self) -> Vec<u8> {
        let names = ["sandgate.db", "sandgate.db-wal"];
        names.iter().flat_map(|name| std::fs::read(self.home.path().join(name)).unwrap_or_default()).collect()
    }
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[tokio::test]
async fn an_execution_is_on_disk_while_it_runs_and_its_end_takes_its_place() {
    let world = world(LedgerConfig::default()).await;
    let call = world.call(KeyLimits::default());
    call.begin();
    let code = format!("{MARK} write:f=x");
    let mut running = world.run(call.clone(), &code).await.unwrap();
    // No flush: it was written before the code ran, and the request before it.
    let page = Page { limit: 100, descending: false, after: None, before: None };
    let begun = world.store.ledger(&LedgerFilter::default(), &page).await.unwrap().data;
    let seen: Vec<_> = begun.iter().map(|record| (record.kind, record.status.as_str())).collect();
    assert_eq!(seen, [("request", "running"), ("execution", "running")]);
    while running.next().await.is_some() {}
    drop(running);
    call.ended("completed");
    call.answered(200);
    drop(call);
    let [request, execution] = &world.records().await[..] else { panic!("two records") };
    assert_eq!((request.status.as_str(), execution.status.as_str()), ("completed", "completed"));
    assert_eq!(execution.parent.as_deref(), Some(request.id.as_str()));
    assert_eq!((execution.request.as_str(), execution.key.as_deref()), ("req_1", Some("key_a")));
    assert_eq!(request.container, execution.container);
    let body = Value::Object(execution.body.clone());
    assert_eq!(body["stdout_bytes"], MARK.len() + 1);
    for (name, value) in [("backend", json!("scripted")), ("exit_code", json!(0)), ("ending", json!("ok"))] {
        assert_eq!(body[name], value, "{body}");
    }
    assert_eq!(body["code_bytes"], code.len());
    let sum = Value::Object(request.body.clone());
    assert_eq!((&sum["executions"], &sum["http_status"]), (&json!(1), &json!(200)), "{sum}");
    assert!(sum["duration_ms"].as_f64() >= sum["sandbox_ms"].as_f64(), "{sum}");
    assert!(!holds(&world.bytes(), MARK));
}

#[tokio::test]
async fn code_and_output_are_kept_where_the_key_or_else_the_settings_say_so() {
    for (settings, key, kept) in
        [(false, None, false), (false, Some(true), true), (true, None, true), (true, Some(false), false)]
    {
        let world = world(LedgerConfig { code: settings, ..LedgerConfig::default() }).await;
        let call = world.call(KeyLimits { log_code: key, ..KeyLimits::default() });
        let running = world.run(call, MARK).await.unwrap();
        running.outcome().await.unwrap();
        let records = world.records().await;
        let body = &records.iter().find(|record| record.kind == "execution").unwrap().body;
        let texts = [body.get("code"), body.get("stdout")];
        let expected =
            if kept { [Some(json!(MARK)), Some(json!(format!("{MARK}\n")))] } else { [None, None] };
        assert_eq!(texts.map(Option::<&Value>::cloned), expected, "{settings} {key:?}");
        assert_eq!(holds(&world.bytes(), MARK), kept);
    }
}

#[tokio::test]
async fn whoever_leaves_leaves_a_cancelled_record() {
    let world = world(LedgerConfig::default()).await;
    let mut running = world.run(world.call(KeyLimits::default()), "one hang").await.unwrap();
    running.next().await.unwrap();
    drop(running);
    let records = world.records().await;
    let seen: Vec<_> = records.iter().map(|record| (record.kind, record.status.as_str())).collect();
    assert_eq!(seen, [("execution", "cancelled"), ("request", "cancelled")]);
    assert_eq!(records[0].body["stdout_bytes"], 4);
}

#[tokio::test]
async fn what_fails_or_breaks_off_is_said() {
    let world = world(LedgerConfig::default()).await;
    assert!(world.run(world.call(KeyLimits::default()), "fail").await.is_err());
    let running = world.run(world.call(KeyLimits::default()), "one break").await.unwrap();
    assert!(running.outcome().await.is_err());
    let records = world.records().await;
    let executions: Vec<_> = records.iter().filter(|record| record.kind == "execution").collect();
    assert_eq!(executions.len(), 2);
    for record in executions {
        assert_eq!(record.status, "failed");
        assert!(record.body["error"].is_string(), "{:?}", record.body);
        // What the engine says of itself is for the log.
        assert!(!record.body["error"].as_str().unwrap().contains("engine failed:"), "{:?}", record.body);
    }
}

#[tokio::test]
async fn nothing_runs_that_cannot_be_written_down() {
    let world = world(LedgerConfig::default()).await;
    // As good as a disk that is full, and sooner done.
    let other = rusqlite::Connection::open(world.home.path().join("sandgate.db")).unwrap();
    other.execute_batch("DROP TABLE ledger").unwrap();
    let refused = world.run(world.call(KeyLimits::default()), MARK).await;
    assert!(matches!(refused, Err(crate::NotRun::Store(_))), "{refused:?}");
}

#[tokio::test]
async fn what_the_disk_refused_is_written_when_it_takes_it() {
    let world = world(LedgerConfig::default()).await;
    let other = rusqlite::Connection::open(world.home.path().join("sandgate.db")).unwrap();
    other.execute_batch("ALTER TABLE ledger RENAME TO elsewhere").unwrap();
    let call = world.call(KeyLimits::default());
    call.begin();
    world.ledger.flush().await;
    drop(call);
    world.ledger.flush().await;
    other.execute_batch("ALTER TABLE elsewhere RENAME TO ledger").unwrap();
    let records = world.records().await;
    assert_eq!(records.iter().map(|record| record.status.as_str()).collect::<Vec<_>>(), ["cancelled"]);
}

#[tokio::test]
async fn what_began_before_the_ledger_was_switched_off_has_its_end() {
    let world = world(LedgerConfig::default()).await;
    let call = world.call(KeyLimits::default());
    call.begin();
    let running = world.run(call, MARK).await.unwrap();
    world.ledger.reconfigure(LedgerConfig { enabled: false, ..LedgerConfig::default() });
    running.outcome().await.unwrap();
    let records = world.records().await;
    assert_eq!(records.len(), 2);
    assert!(records.iter().all(|record| record.ended_ms.is_some()), "{records:?}");
}

#[tokio::test]
async fn an_approval_whose_asker_left_is_cancelled_and_nothing_runs() {
    let world = world(LedgerConfig::default()).await;
    let policy = crate::approvals::Policy {
        default: crate::approvals::Stance::Ask,
        ..crate::approvals::Policy::default()
    };
    let approvals = Approvals::new(policy, world.store.clone());
    let executions = Executions::new(Arc::clone(&world.containers), approvals.clone());
    let who = Principal::open(Owner::of_key("a"));
    let asker =
        Asker { call: world.call(KeyLimits::default()), ..Asker::new(&who, "req_1".into(), "execute") };
    let new = NewContainer { owner: who.owner, ..NewContainer::default() };
    let container = world.containers.create(new).await.unwrap();
    let run = ExecuteRequest { code: MARK.into(), ..ExecuteRequest::default() };
    let manner = Manner { crowd: Crowd::Refuse, makes_context: false };
    let leaving = async {
        approvals.held_after(None, Duration::from_secs(60)).await;
        // On record by now, as it waits.
        while world.records().await.iter().all(|record| record.kind != "approval") {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        asker.left.cancel();
    };
    let (refused, ()) = tokio::join!(executions.start(&asker, &container, run, manner), leaving);
    assert!(matches!(refused, Err(crate::NotRun::Denied(_))), "{refused:?}");
    let records = world.records().await;
    assert!(records.iter().all(|record| record.kind != "execution"));
    let approval = records.iter().find(|record| record.kind == "approval").unwrap();
    assert_eq!(approval.status, "cancelled");
    assert_eq!(approvals.count_held(), 0);
}

#[tokio::test]
async fn a_ledger_that_is_off_writes_nothing_and_code_runs() {
    let world = world(LedgerConfig { enabled: false, ..LedgerConfig::default() }).await;
    let call = world.call(KeyLimits::default());
    call.begin();
    world.run(call, MARK).await.unwrap().outcome().await.unwrap();
    assert!(!world.ledger.records_passed());
    assert_eq!(world.records().await, []);
}

fn question() -> TurnRequest {
    TurnRequest {
        body: serde_json::Map::new(),
        credentials: Credentials::default(),
        stream: true,
        request_id: String::new(),
        retries: 0,
        asked: Asked::default(),
    }
}

fn answer(events: Vec<Result<Value, UpstreamError>>) -> Turn {
    Turn { events: stream::iter(events).boxed(), headers: HeaderMap::new() }
}

#[tokio::test]
async fn turns_are_counted_in_the_words_of_both_apis_and_summed_up() {
    let world = world(LedgerConfig::default()).await;
    let call = world.call(KeyLimits::default());
    call.asks_for(Some("m"));
    let usage = json!({"input_tokens": 10, "output_tokens": 4, "input_tokens_details": {"cached_tokens": 3}});
    let responses = vec![
        Ok(json!({"type": "response.created"})),
        Ok(json!({"type": "response.completed", "response": {"usage": usage}})),
    ];
    let usage = json!({"prompt_tokens": 1, "completion_tokens": 2,
        "completion_tokens_details": {"reasoning_tokens": 2}});
    let chunks = vec![
        Ok(json!({"choices": [{"delta": {"content": MARK}, "finish_reason": null}]})),
        Ok(json!({"choices": [{"delta": {}, "finish_reason": "length"}]})),
        Ok(json!({"choices": [], "usage": usage})),
    ];
    let broken = vec![Err(UpstreamError::Broken("x".into()))];
    for events in [responses, chunks, broken, Vec::new()] {
        let entry = TurnEntry::begin(&call, Some("m"), true);
        let mut turn = entry.over(question(), async |_| Ok(answer(events))).await.unwrap();
        while turn.events.next().await.is_some() {}
    }
    let refused = TurnEntry::begin(&call, Some("m"), true)
        .over(question(), async |_| Err(UpstreamError::Unreachable("x".into())))
        .await;
    assert!(refused.is_err());
    drop(call);
    let records = world.records().await;
    let turns: Vec<_> = records.iter().filter(|record| record.kind == "turn").collect();
    let statuses: Vec<_> = turns.iter().map(|turn| turn.status.as_str()).collect();
    assert_eq!(statuses, ["completed", "incomplete", "failed", "cancelled", "failed"]);
    assert_eq!(turns[0].body["tokens"]["cached"], 3);
    assert_eq!(turns[1].body["tokens"], json!({"input": 1, "output": 2, "cached": null, "reasoning": 2}));
    assert!(turns[0].body["first_event_ms"].is_number() && turns[3].body.get("first_event_ms").is_none());
    let request = records.iter().find(|record| record.kind == "request").unwrap();
    assert_eq!(request.body["tokens"], json!({"input": 11, "output": 6, "cached": 3, "reasoning": 2}));
    assert_eq!((&request.body["turns"], request.model.as_deref()), (&json!(5), Some("m")));
    assert!(!holds(&world.bytes(), MARK), "what a model says is not the ledger's business");
}

#[tokio::test]
async fn what_is_older_than_the_settings_say_goes() {
    let world = world(LedgerConfig { keep: Some(Duration::ZERO), ..LedgerConfig::default() }).await;
    drop(world.call(KeyLimits::default()));
    assert_eq!(world.records().await.len(), 1);
    tokio::time::sleep(Duration::from_millis(5)).await;
    assert_eq!(world.ledger.prune().await.unwrap(), 1);
    assert_eq!(world.records().await, []);
    world.ledger.reconfigure(LedgerConfig { keep: None, ..LedgerConfig::default() });
    drop(world.call(KeyLimits::default()));
    world.ledger.flush().await;
    assert_eq!(world.ledger.prune().await.unwrap(), 0);
}

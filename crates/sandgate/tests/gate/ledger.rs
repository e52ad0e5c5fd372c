//! What is written down of requests, and who may read it: through the running server.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Output;

use sandgate_testkit::Turn;
use serde_json::{Value, json};

use crate::common::{Client, Keyed, MASTER, World, container_of, finish, sandgate, turn, wait_until};

const MARK: &str = "mark-7f3a-of-the-code";

fn listed(client: &Client, path: &str) -> Vec<Value> {
    client.get(path).ok()["data"].as_array().unwrap().clone()
}

/// The one request under this id, with what was done for it.
#[track_caller]
fn tree(master: &Client, id: &str) -> Value {
    let mut found = listed(master, &format!("/v1/admin/ledger/{id}"));
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

fn children<'a>(tree: &'a Value, kind: &str) -> Vec<&'a Value> {
    tree["children"].as_array().unwrap().iter().filter(|child| child["kind"] == kind).collect()
}

/// The id under which an answer can be asked for.
#[track_caller]
fn id_of(head: &str) -> String {
    let line = head.lines().find_map(|line| line.strip_prefix("x-request-id: "));
    line.unwrap_or_else(|| panic!("no id: {head}")).to_owned()
}

fn at_least(record: &Value, name: &str, least: f64) {
    let value = record[name].as_f64();
    assert!(value.is_some_and(|value| value >= least), "{name}: {record:#}");
}

/// What every record of one request with one round of code says.
#[track_caller]
fn check(keyed: &Keyed, key: &Value, tree: &Value, api: &str, is_stream: bool) {
    for (name, value) in [
        ("kind", json!("request")),
        ("api", json!(api)),
        ("status", json!("completed")),
        ("http_status", json!(200)),
        ("stream", json!(is_stream)),
        ("owner", key["owner"].clone()),
        ("key_id", key["id"].clone()),
        ("model", json!("gpt-test")),
        ("turns", json!(2)),
        ("executions", json!(1)),
        ("parent_id", Value::Null),
    ] {
        assert_eq!(tree[name], value, "{name}: {tree:#}");
    }
    let [first, second] = children(tree, "turn")[..] else { panic!("two turns: {tree:#}") };
    let sum =
        |name: &str| [first, second].iter().map(|turn| turn["tokens"][name].as_u64().unwrap()).sum::<u64>();
    assert!(sum("input") > 0 && sum("output") > 0, "{tree:#}");
    assert_eq!(
        (&tree["tokens"]["input"], &tree["tokens"]["output"]),
        (&json!(sum("input")), &json!(sum("output")))
    );
    for turn in [first, second] {
        let upstream = turn["upstream"].as_str().unwrap();
        assert!(keyed.model.base_url().contains(upstream) && upstream.ends_with("/v1"), "{upstream}");
        assert_eq!((&turn["status"], &turn["upstream_model"]), (&json!("completed"), &json!("gpt-test")));
        at_least(turn, "first_event_ms", 0.0);
        at_least(turn, "duration_ms", 0.0);
    }
    let [run] = children(tree, "execution")[..] else { panic!("one execution: {tree:#}") };
    for (name, value) in [
        ("status", json!("completed")),
        ("ending", json!("ok")),
        ("exit_code", json!(0)),
        ("backend", json!("embedded")),
        ("language", json!("python")),
        ("limit", Value::Null),
        ("stdout_bytes", json!(MARK.len() + 1)),
        ("stderr_bytes", json!(0)),
        ("files_changed", json!(1)),
        ("container_id", tree["container_id"].clone()),
    ] {
        assert_eq!(run[name], value, "{name}: {run:#}");
    }
    at_least(run, "cpu_ms", 0.0);
    at_least(run, "sandbox_memory_peak_bytes", 1e6);
    let inside = tree["model_ms"].as_f64().unwrap() + tree["sandbox_ms"].as_f64().unwrap();
    at_least(tree, "duration_ms", inside * 0.99);
    let all: Vec<&Value> = tree["children"].as_array().unwrap().iter().chain([tree]).collect();
    assert!(all.iter().all(|record| record["request_id"] == tree["request_id"]), "{tree:#}");
    let ids: BTreeSet<&str> = all.iter().map(|record| record["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), all.len(), "every record has an id of its own");
}

#[test]
fn every_request_leaves_linked_records_under_the_id_that_client_and_upstream_know() {
    let keyed = Keyed::start("responses");
    let (key, client) = keyed.make(json!({}));
    let code = format!("print({MARK:?}); open('/mnt/data/f', 'w').write('x') and None");
    let turns = || [Turn::code(&code), Turn::text("said-9c2b-by-the-model")];
    for is_stream in [false, true] {
        keyed.script(turns());
        let answer = if is_stream { client.create_stream(json!({})) } else { client.create(json!({})) };
        let id = id_of(&answer.head);
        let asked = keyed.heard();
        for request in &asked[asked.len() - 2..] {
            assert_eq!(request.headers["x-request-id"], id);
        }
        let tree = tree(&keyed.master(), &id);
        check(&keyed, &key, &tree, "responses", is_stream);
        assert!(answer.text().contains(tree["response_id"].as_str().unwrap()));

        keyed.script(turns());
        let answer = if is_stream { client.chat_stream(json!({})) } else { client.chat(json!({})) };
        let tree = self::tree(&keyed.master(), &id_of(&answer.head));
        check(&keyed, &key, &tree, "chat", is_stream);
        assert!(answer.text().contains(tree["response_id"].as_str().unwrap()));
    }
    for is_stream in [false, true] {
        let answer = client.post("/v1/execute", &json!({"code": code, "stream": is_stream}));
        assert_eq!(answer.status, 200, "{}", answer.text());
        let tree = tree(&keyed.master(), &id_of(&answer.head));
        assert_eq!((&tree["api"], &tree["status"]), (&json!("execute"), &json!("completed")), "{tree:#}");
        assert_eq!((&tree["stream"], &tree["key_id"]), (&json!(is_stream), &key["id"]));
        assert_eq!(children(&tree, "execution")[0]["stdout_bytes"], MARK.len() + 1);
    }
    let busy = "import time\nwhile time.process_time() < 0.5: pass\nbytearray(50_000_000); time.sleep(100)";
    let answer = client.post("/v1/execute", &json!({"code": busy, "timeout": 5}));
    let tree = self::tree(&keyed.master(), &id_of(&answer.head));
    let run = children(&tree, "execution")[0];
    assert_eq!(
        (&run["ending"], &run["limit"], &run["exit_code"]),
        (&json!("timed_out"), &json!("time"), &json!(124))
    );
    assert_eq!((&run["status"], &tree["status"]), (&json!("failed"), &json!("completed")), "{tree:#}");
    at_least(run, "duration_ms", 4000.0);
    at_least(run, "cpu_ms", 300.0);
    at_least(run, "sandbox_memory_peak_bytes", 5e7);
    let all = keyed.master().get("/v1/admin/ledger/export").text();
    assert!(!all.contains(MARK) && !all.contains("said-9c2b") && !all.contains(&client.key), "{all}");
}

/// Everything that is in the files of the database.
fn database(home: &Path) -> Vec<u8> {
    let names = ["sandgate.db", "sandgate.db-wal"];
    names.iter().flat_map(|name| std::fs::read(home.join(name)).unwrap_or_default()).collect()
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
fn code_and_output_are_nowhere_unless_a_key_has_them_written_down() {
    let keyed = Keyed::start("responses");
    let run =
        json!({"code": format!("'in-' + {MARK:?}; import sys; print({MARK:?}, file=sys.stderr); {MARK:?}")});
    let plain = keyed.limited(json!({}));
    plain.post("/v1/execute", &run).ok();
    let records = listed(&keyed.master(), "/v1/admin/ledger?kind=execution");
    assert_eq!(records.len(), 1);
    for name in ["code", "stdout", "stderr", "results"] {
        assert!(records[0].get(name).is_none(), "{name}");
    }
    assert!(records[0]["results_bytes"].as_u64().unwrap() > 0);
    assert!(!holds(&database(keyed.home()), MARK));
    let loud = keyed.limited(json!({"log_code": true}));
    loud.post("/v1/execute", &run).ok();
    let record = listed(&keyed.master(), "/v1/admin/ledger?kind=execution&limit=1").remove(0);
    assert_eq!(record["code"], run["code"]);
    assert_eq!(record["stderr"], format!("{MARK}\n"));
    assert!(record["results"].as_str().unwrap().contains(MARK));
    assert!(holds(&database(keyed.home()), MARK));
}

#[test]
fn a_key_reads_its_own_records_and_the_operator_all() {
    let keyed = Keyed::start("responses");
    let (one, two) = (keyed.make(json!({})), keyed.make(json!({})));
    // Two clients may well choose the same id, and one may choose it twice.
    let send = |client: &Client, code: &str| {
        let body = json!({"code": code}).to_string();
        client.raw_as("the-same", "POST", "/v1/execute", body.as_bytes()).ok()
    };
    send(&one.1, "1");
    send(&one.1, "2");
    send(&two.1, "raise ValueError()");
    assert_eq!(listed(&keyed.master(), "/v1/admin/ledger/the-same").len(), 3);
    let own = listed(&one.1, "/v1/ledger/the-same");
    assert_eq!(own.len(), 2);
    assert!(
        own.iter()
            .all(|tree| tree["owner"] == one.0["owner"] && tree["children"].as_array().unwrap().len() == 1)
    );
    assert_eq!(listed(&two.1, "/v1/ledger").len(), 2);
    assert_eq!(listed(&two.1, "/v1/ledger?status=failed&kind=execution")[0]["ending"], "raised");
    assert_eq!(listed(&one.1, "/v1/ledger?status=failed").len(), 0);
    for path in ["/v1/admin/ledger", "/v1/admin/ledger/export", "/v1/admin/ledger/the-same"] {
        one.1.get(path).refused(403);
    }
    one.1.get("/v1/ledger/nothing").refused(404);
    let owner = one.0["owner"].as_str().unwrap();
    let first = keyed.master().get(&format!("/v1/admin/ledger?owner={owner}&limit=3&order=asc")).ok();
    assert_eq!((first["data"].as_array().unwrap().len(), &first["has_more"]), (3, &json!(true)));
    let last = first["last_id"].as_str().unwrap();
    let rest = keyed.master().get(&format!("/v1/admin/ledger?owner={owner}&order=asc&after={last}")).ok();
    assert_eq!((rest["data"].as_array().unwrap().len(), &rest["has_more"]), (1, &json!(false)));
    let key = one.0["id"].as_str().unwrap();
    assert_eq!(listed(&keyed.master(), &format!("/v1/admin/ledger?key_id={key}&since=1h")).len(), 4);
    let container = own[0]["container_id"].as_str().unwrap();
    assert_eq!(listed(&keyed.master(), &format!("/v1/admin/ledger?container_id={container}")).len(), 2);
}

#[test]
fn what_is_passed_on_is_recorded_with_what_is_known() {
    let keyed = Keyed::start("responses");
    let client = keyed.limited(json!({}));
    keyed.script([Turn::text("hello"), Turn::text("hello")]);
    let answer = client.chat(json!({"tools": null}));
    let id = id_of(&answer.head);
    assert_eq!(keyed.heard()[0].headers["x-request-id"], id);
    let record = tree(&keyed.master(), &id);
    for (name, value) in [
        ("api", json!("chat")),
        ("passed", json!(true)),
        ("status", json!("completed")),
        ("http_status", json!(200)),
        ("model", json!("gpt-test")),
        ("path", json!("/v1/chat/completions")),
        ("response_bytes", json!(answer.body.len())),
        ("children", json!([])),
    ] {
        assert_eq!(record[name], value, "{name}: {record:#}");
    }
    at_least(&record, "request_bytes", 10.0);
    // The upstream's other paths, too, whatever it says of them.
    let answer = client.post("/v1/embeddings", &json!({"model": "e", "input": "x"}));
    let record = tree(&keyed.master(), &id_of(&answer.head));
    assert_eq!((&record["api"], &record["model"]), (&json!("other"), &json!("e")), "{record:#}");
    assert_eq!(record["http_status"], answer.status);
    // What only concerns this server leaves none.
    let answer = client.get("/v1/containers");
    keyed.master().get(&format!("/v1/admin/ledger/{}", id_of(&answer.head))).refused(404);
    // And a refusal does.
    let tool = json!({"type": "code_interpreter", "container": {"type": "auto", "memory_limit": "3g"}});
    let answer = client.create(json!({"tools": [tool]}));
    assert_eq!(answer.status, 400);
    let record = tree(&keyed.master(), &id_of(&answer.head));
    assert_eq!((&record["status"], &record["http_status"]), (&json!("failed"), &json!(answer.status)));
    assert_eq!(record["error"], answer.json()["error"]["code"]);
}

#[test]
fn a_ledger_can_be_switched_off_while_the_server_runs() {
    let keyed = Keyed::start("responses");
    let client = keyed.limited(json!({}));
    let config = std::fs::read_to_string(keyed.home().join("config.yaml")).unwrap();
    keyed.reconfigure(&format!("{config}ledger: {{enabled: false}}\n"));
    wait_until("the configuration is read", || keyed.log().contains("the configuration was read again"));
    client.post("/v1/execute", &json!({"code": "1"})).ok();
    assert_eq!(listed(&keyed.master(), "/v1/admin/ledger"), [] as [Value; 0]);
}

#[test]
fn approvals_are_recorded_and_what_was_denied_has_no_execution() {
    let rules = r#"[{name: no-files, when: 'code.contains("open(")', then: deny, reason: no files here}]"#;
    let keyed = Keyed::with("responses", &format!("approvals: {{default: allow, rules: {rules}}}\n"));
    let client = keyed.limited(json!({}));
    let code = format!("open('/mnt/data/{MARK}', 'w')");
    keyed.script([Turn::code(&code), Turn::code("1"), Turn::text("done")]);
    let answer = client.create(json!({"store": false}));
    let tree = tree(&keyed.master(), &id_of(&answer.head));
    let [denied, allowed] = children(&tree, "approval")[..] else { panic!("two approvals: {tree:#}") };
    for (name, value) in [
        ("status", json!("denied")),
        ("by", json!("rule")),
        ("rule", json!("no-files")),
        ("reason", json!("no files here")),
        ("code_bytes", json!(code.len())),
    ] {
        assert_eq!(denied[name], value, "{name}: {denied:#}");
    }
    assert_eq!((&allowed["status"], &allowed["by"]), (&json!("allowed"), &json!("default")), "{allowed:#}");
    assert_eq!((&tree["denied"], &tree["executions"]), (&json!(1), &json!(1)), "{tree:#}");
    assert_eq!(children(&tree, "execution").len(), 1);
    assert!(!tree.to_string().contains(MARK) && denied.get("code").is_none());
}

#[test]
fn whoever_hangs_up_leaves_records_all_the_same() {
    let keyed = Keyed::start("responses");
    let client = keyed.limited(json!({}));
    keyed.script([Turn::code("import time; time.sleep(100)"), Turn::text("never said")]);
    let mut stream = client.open_stream(json!({}));
    stream.until("response.code_interpreter_call.interpreting");
    let master = keyed.master();
    wait_until("the code runs", || {
        !listed(&master, "/v1/admin/ledger?kind=execution&status=running").is_empty()
    });
    drop(stream);
    wait_until("the request is over", || listed(&master, "/v1/admin/ledger?status=running").is_empty());
    let records = listed(&master, "/v1/admin/ledger?order=asc");
    let seen: Vec<_> = records
        .iter()
        .map(|record| (record["kind"].as_str().unwrap(), record["status"].as_str().unwrap()))
        .collect();
    let cancelled = |kind| (kind, "cancelled");
    assert_eq!(seen, [cancelled("request"), cancelled("turn"), cancelled("execution")]);
}

#[test]
fn a_server_that_is_killed_leaves_records_of_what_it_was_doing() {
    let mut world = World::configured(|url| {
        format!("pool: 2\nmaster_key: {MASTER}\nupstream: {{url: '{url}', api: responses, key: sk-lost}}\n")
    });
    let slow = turn(json!({"items": [{"code": "import time; time.sleep(100)"}]}));
    world.model.script("sk-lost", [slow]);
    let client = Client { key: MASTER.to_owned(), ..world.client([]) };
    let mut stream = client.open_stream(json!({}));
    stream.until("response.code_interpreter_call.interpreting");
    wait_until("the code runs", || {
        !listed(&client, "/v1/admin/ledger?kind=execution&status=running").is_empty()
    });
    world.crash_and_restart();
    let client = world.again(&client);
    let records = listed(&client, "/v1/admin/ledger?order=asc");
    let kinds: Vec<&str> = records.iter().map(|record| record["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["request", "turn", "execution"]);
    for record in &records {
        assert_eq!((&record["status"], &record["ended_at_ms"]), (&json!("lost"), &Value::Null), "{record:#}");
        assert!(record["note"].as_str().unwrap().contains("the server ended"), "{record:#}");
    }
    assert_eq!(records[2]["parent_id"], records[0]["id"]);
    assert!(records[2]["container_id"].is_string() && records[0]["response_id"].is_string());
}

#[test]
fn nothing_runs_that_cannot_be_written_down() {
    let keyed = Keyed::start("responses");
    let client = keyed.limited(json!({}));
    let container = client.post("/v1/containers", &json!({"name": "a"})).ok()["id"].clone();
    let database = rusqlite::Connection::open(keyed.home().join("sandgate.db")).unwrap();
    database.busy_timeout(crate::common::LONGEST).unwrap();
    // As good as a disk that is full, and sooner done.
    database.execute_batch("DROP TABLE ledger").unwrap();
    let code = "open('/mnt/data/it-ran', 'w').write('x')";
    let refused = client.post("/v1/execute", &json!({"code": code, "container": container})).refused(503);
    assert_eq!(refused["code"], "not_recorded");
    let tools = json!([{"type": "code_interpreter", "container": container}]);
    keyed.script([Turn::code(code), Turn::text("never said")]);
    let refused = client.create(json!({"tools": tools})).refused(503);
    assert!(refused["message"].as_str().unwrap().contains("nothing ran"), "{refused}");
    keyed.script([Turn::code(code), Turn::text("never said")]);
    client.chat(json!({"tools": tools})).refused(503);
    let files = format!("/v1/containers/{}/files", container.as_str().unwrap());
    assert_eq!(listed(&client, &files), [] as [Value; 0]);
}

fn ledger(home: &Path, arguments: &[&str]) -> Output {
    let mut command = sandgate(home);
    command.arg("ledger").args(arguments);
    finish(command.spawn().expect("the program starts"))
}

#[track_caller]
fn said(home: &Path, arguments: &[&str]) -> String {
    let output = ledger(home, arguments);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_command_line_reads_beside_the_server() {
    let keyed = Keyed::start("responses");
    let client = keyed.limited(json!({}));
    keyed.script([Turn::code("1 + 1"), Turn::text("two")]);
    let answer = client.create(json!({}));
    let (id, container) = (id_of(&answer.head), container_of(&answer.ok()));
    let home = keyed.home();
    wait_until("the end is written", || said(home, &["list", "--kind", "request"]).contains("completed"));
    let table = said(home, &["list"]);
    assert_eq!(table.lines().count(), 5, "{table}");
    assert!(table.contains(&id) && table.contains(&container), "{table}");
    let shown = said(home, &["show", &id]);
    assert!(shown.contains("execution") && shown.contains("exit_code: 0"), "{shown}");
    let tree: Value = serde_json::from_str(&said(home, &["show", &id, "--json"])).unwrap();
    assert_eq!(tree[0], self::tree(&keyed.master(), &id));
    let exported = said(home, &["export", "--since", "1h", "--kind", "turn"]);
    let lines: Vec<Value> = exported.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(keyed.master().get("/v1/admin/ledger/export?kind=turn").text(), exported);
    assert_eq!(said(home, &["export", "--status", "lost"]), "");
    for (arguments, words) in [
        (&["show", "nothing"][..], "no record of a request"),
        (&["list", "--since", "soon"], "24h"),
        (&["list", "--kind", "thing"], "execution"),
    ] {
        let output = ledger(home, arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn what_is_too_old_goes() {
    let mut world = World::configured(|url| {
        format!(
            "pool: 0\nmaster_key: {MASTER}\nupstream: {{url: '{url}', key: sk-x}}\nledger: {{keep_days: 2}}\n"
        )
    });
    let client = Client { key: MASTER.to_owned(), ..world.client([]) };
    client.post("/v1/execute", &json!({"code": "1"})).ok();
    let day = 24 * 60 * 60 * 1000;
    let old = 3 * day;
    age(world.home(), "request", old);
    age(world.home(), "execution", day);
    world.crash_and_restart();
    let client = world.again(&client);
    wait_until("the old one is gone", || listed(&client, "/v1/admin/ledger").len() == 1);
    assert_eq!(listed(&client, "/v1/admin/ledger")[0]["kind"], "execution");
}

/// Makes records older than they are.
fn age(home: &Path, kind: &str, ms: i64) {
    let database = rusqlite::Connection::open(home.join("sandgate.db")).unwrap();
    database.busy_timeout(crate::common::LONGEST).unwrap();
    let changed =
        database.execute("UPDATE ledger SET began_ms = began_ms - ?1 WHERE kind = ?2", (ms, kind)).unwrap();
    assert_eq!(changed, 1);
}

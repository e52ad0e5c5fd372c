//! What belongs to one key is not there for any other: every route answers as it does for what never was.

use sandgate_testkit::{Item, Turn};
use serde_json::{Value, json};

use crate::common::{Answer, Client, OUTPUTS, World, container_of, turn, wait_until, world};

/// What one client has.
struct Belongings {
    file: String,
    container: String,
    container_file: String,
    response: Value,
    background: String,
    conversation: String,
    item: String,
}

fn belongings(world: &World) -> (Client, Belongings) {
    let client = world.client([
        Turn::of([Item::code("secret = 42\nopen('/mnt/data/secret.txt', 'w').write('secret')")]),
        Turn::text("kept sandbox:/mnt/data/secret.txt"),
        Turn::text("in the background"),
    ]);
    let file = client.upload("/v1/files", "secret.csv", b"secret")["id"].as_str().unwrap().to_owned();
    let conversation = client.post("/v1/conversations", &json!({})).ok()["id"].as_str().unwrap().to_owned();
    let response = client.respond(json!({"conversation": conversation}));
    let items = client.get(&format!("/v1/conversations/{conversation}/items")).ok();
    let item = items["data"][0]["id"].as_str().unwrap().to_owned();
    let container = container_of(&response);
    let files = client.get(&format!("/v1/containers/{container}/files")).ok();
    let container_file = files["data"][0]["id"].as_str().unwrap().to_owned();
    let started = client.respond(json!({"background": true}));
    let background = started["id"].as_str().unwrap().to_owned();
    wait_until("it is over", || {
        client.get(&format!("/v1/responses/{background}")).ok()["status"] == "completed"
    });
    (client, Belongings { file, container, container_file, response, background, conversation, item })
}

/// An id as it could be, of nothing.
fn never(id: &str) -> String {
    let (prefix, rest) = id.split_at(id.find(['_', '-']).unwrap() + 1);
    format!("{prefix}{}", "0".repeat(rest.len()))
}

/// The answer names the id that was asked for, and nothing else of it differs.
#[track_caller]
fn as_if_never_there(stranger: &Client, ask: impl Fn(&Client, &str) -> Answer, id: &str, status: u16) {
    let none = never(id);
    let (theirs, nobodys) = (ask(stranger, id), ask(stranger, &none));
    assert_eq!(theirs.refused(status), {
        let mut error = nobodys.refused(status);
        error["message"] = json!(error["message"].as_str().unwrap().replace(&none, id));
        error
    });
}

fn no_route_leads_to_it(world: &World, api_keeps_responses: bool) {
    let (client, has) = belongings(world);
    let stranger = client.stranger();
    let empty = json!({});
    let body = |value: Value| move |client: &Client, target: &str| client.post(target, &value);
    let get = |client: &Client, target: &str| client.get(target);
    let delete = |client: &Client, target: &str| client.delete(target);
    type Ask<'a> = &'a dyn Fn(&Client, &str) -> Answer;
    let upload = |client: &Client, target: &str| client.try_upload(target, "a.txt", b"a");
    let by_id = body(json!({"file_id": has.file}));
    let (post_empty, post_items) =
        (body(empty.clone()), body(json!({"items": [{"role": "user", "content": "x"}]})));
    let post_metadata = body(json!({"metadata": {"a": "b"}}));
    let response = has.response["id"].as_str().unwrap();
    let routes: Vec<(Ask<'_>, &str, &str, &str)> = vec![
        (&get, "/v1/files/", &has.file, ""),
        (&get, "/v1/files/", &has.file, "/content"),
        (&delete, "/v1/files/", &has.file, ""),
        (&get, "/v1/containers/", &has.container, ""),
        (&delete, "/v1/containers/", &has.container, ""),
        (&get, "/v1/containers/", &has.container, "/files"),
        (&upload, "/v1/containers/", &has.container, "/files"),
        (&by_id, "/v1/containers/", &has.container, "/files"),
        (&get, "/v1/conversations/", &has.conversation, ""),
        (&post_metadata, "/v1/conversations/", &has.conversation, ""),
        (&delete, "/v1/conversations/", &has.conversation, ""),
        (&get, "/v1/conversations/", &has.conversation, "/items"),
        (&post_items, "/v1/conversations/", &has.conversation, "/items"),
    ];
    for (ask, before, id, after) in routes {
        as_if_never_there(&stranger, |client, id| ask(client, &format!("{before}{id}{after}")), id, 404);
    }
    let (container, file) = (&has.container, &has.container_file);
    for target in [format!("/{file}"), format!("/{file}/content")] {
        stranger.get(&format!("/v1/containers/{container}/files{target}")).refused(404);
    }
    stranger.delete(&format!("/v1/containers/{container}/files/{file}")).refused(404);
    let (conversation, item) = (&has.conversation, &has.item);
    stranger.get(&format!("/v1/conversations/{conversation}/items/{item}")).refused(404);
    stranger.delete(&format!("/v1/conversations/{conversation}/items/{item}")).refused(404);
    for id in [response, &has.background] {
        for (ask, after) in [
            (&get as Ask<'_>, ""),
            (&get, "?stream=true"),
            (&get, "/input_items"),
            (&post_empty, "/cancel"),
            (&delete, ""),
        ] {
            // Perhaps it is the upstream's; then it says in its own words that it is not.
            let answer = ask(&stranger, &format!("/v1/responses/{id}{after}"));
            answer.refused(404);
            assert!(!answer.text().contains("secret"), "{}", answer.text());
        }
    }
    for target in ["/v1/files", "/v1/containers"] {
        assert_eq!(stranger.get(target).ok()["data"], json!([]), "{target}");
    }
    // Nor does one by way of a new response, or of something of one's own.
    let own = world.client(vec![Turn::text("x"); 9]);
    let tool = |container: Value| json!({"tools": [{"type": "code_interpreter", "container": container}]});
    let create = |make: &dyn Fn(&str) -> Value, id: &str, status| {
        as_if_never_there(&own, |client, id| client.create(make(id)), id, status);
        as_if_never_there(&own, |client, id| client.create_stream(make(id)), id, status);
    };
    create(&|id| tool(json!(id)), &has.container, 404);
    create(&|id| tool(json!({"type": "auto", "file_ids": [id]})), &has.file, 400);
    create(&|id| json!({"conversation": id}), &has.conversation, 404);
    let own_conversation = own.post("/v1/conversations", &empty).ok()["id"].as_str().unwrap().to_owned();
    as_if_never_there(
        &own,
        |client, id| {
            let items = json!({"items": [{"type": "item_reference", "id": id}]});
            client.post(&format!("/v1/conversations/{own_conversation}/items"), &items)
        },
        &has.item,
        400,
    );
    as_if_never_there(
        &own,
        |client, id| client.post("/v1/containers", &json!({"name": "n", "file_ids": [id]})),
        &has.file,
        400,
    );
    assert!(world.asked(&own).is_empty(), "nothing was asked for all this");
    if !api_keeps_responses {
        create(&|id| json!({"previous_response_id": id}), response, 400);
        create(&|id| json!({"input": [{"type": "item_reference", "id": id}]}), &has.item, 404);
    }
    // And all of it is still there.
    assert_eq!(client.get(&format!("/v1/containers/{container}/files/{file}/content")).text(), "secret");
    assert_eq!(client.get(&format!("/v1/files/{}/content", has.file)).text(), "secret");
    assert_eq!(client.get(&format!("/v1/responses/{response}")).ok()["status"], "completed");
    assert_eq!(client.get(&format!("/v1/conversations/{conversation}/items/{item}")).ok()["id"], **item);
}

#[test]
fn what_belongs_to_another_is_not_there() {
    no_route_leads_to_it(world(), true);
}

#[test]
fn what_belongs_to_another_is_not_there_in_front_of_a_chat_upstream() {
    no_route_leads_to_it(&World::with("chat", ""), false);
}

/// The upstream may know what we do not, so it is asked, with the stranger's own key; it never learns more.
#[test]
fn what_only_an_upstream_could_know_is_asked_of_it_with_nothing_of_the_owners() {
    let (_, has) = belongings(world());
    let inputs = [
        json!({"previous_response_id": has.response["id"]}),
        json!({"input": [{"type": "item_reference", "id": has.item}]}),
    ];
    for fields in inputs {
        for stream in [false, true] {
            let own = world().client([Turn::text("never said")]);
            let mut fields = fields.clone();
            fields["stream"] = json!(stream);
            own.create(fields).refused(400);
            let asked = world().model.requests(&own.key);
            assert_eq!(asked.len(), 1);
            assert!(!asked[0].text.contains("secret"), "{}", asked[0].text);
        }
    }
}

/// A client may send anything back, also what it saw over somebody's shoulder.
#[test]
fn a_replayed_call_of_another_does_not_open_its_container() {
    let (client, has) = belongings(world());
    // The call's id in the model's form is made up anew.
    let look = "import os\nprint(os.path.exists('/mnt/data/secret.txt'), 'secret' in globals())";
    let foreign = |item: Value| turn(json!({"items": [item], "foreign": true}));
    let own = world().client([foreign(json!({"code": look})), foreign(json!({"text": "nothing"}))]);
    let call =
        client.get(&format!("/v1/responses/{}?include[]={OUTPUTS}", has.response["id"].as_str().unwrap()));
    let mut call = call.ok()["output"][0].clone();
    call["outputs"] = Value::Null;
    let input = json!([{"role": "user", "content": "go"}, call, {"role": "user", "content": "look"}]);
    let response = own.respond(json!({"input": input, "include": [OUTPUTS]}));
    assert_ne!(container_of(&response), has.container);
    assert_eq!(response["output"][0]["outputs"][0]["logs"], "False False\n");
    world().asked(&own);
}

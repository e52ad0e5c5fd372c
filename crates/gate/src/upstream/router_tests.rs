//! Requests find the upstream of their model, under the name it knows there.

use bytes::Bytes;
use futures_util::StreamExt;
use serde_json::Value;

use super::super::test_server::{Answer, Server, answer, json_answer};
use super::super::{ChatOptions, ChatUpstream, Connection, ConnectionConfig, Member, ResponsesUpstream};
use super::*;

fn connection(base: &str) -> Connection {
    Connection::new(ConnectionConfig::new(base)).unwrap()
}

fn responses(base: &str) -> Arc<dyn Upstream> {
    Arc::new(ResponsesUpstream::new(connection(base)))
}

fn named(models: Vec<(&str, Arc<dyn Upstream>, Option<&str>)>) -> Router {
    let member = |(name, upstream, model): (&str, _, Option<&str>)| {
        (name.to_owned(), Member::new(upstream, model.map(ToOwned::to_owned), None))
    };
    Router::new(Routes::named(models.into_iter().map(member), None))
}

fn request(model: Option<&str>, retries: u32) -> TurnRequest {
    let mut body = Map::new();
    body.insert("input".to_owned(), json!("hi"));
    if let Some(model) = model {
        body.insert("model".to_owned(), json!(model));
    }
    let (credentials, request_id) = (Credentials::default(), String::new());
    TurnRequest {
        body,
        credentials,
        stream: false,
        request_id,
        retries,
        asked: crate::upstream::Asked::default(),
    }
}

fn response(model: &str) -> Answer {
    json_answer(
        &json!({"id": "r", "object": "response", "status": "completed", "model": model, "output": []}),
    )
}

async fn model_said(router: &Router, asked: &str) -> Value {
    let turn = router.turn(request(Some(asked), 0)).await.unwrap();
    let last = turn.events.collect::<Vec<_>>().await.pop().unwrap().unwrap();
    last["response"]["model"].clone()
}

fn post(body: &'static str) -> Request<RequestBody> {
    let body = body_of(Bytes::from_static(body.as_bytes()));
    let request = Request::post("/v1/embeddings").header("content-type", "application/json");
    request.body(body).unwrap()
}

fn status_of(error: UpstreamError) -> (u16, Value) {
    let UpstreamError::Status { status, body, .. } = error else { panic!("{error}") };
    (status.as_u16(), serde_json::from_slice::<Value>(&body).unwrap()["error"].clone())
}

#[tokio::test]
async fn a_mapped_name_is_the_clients_again_where_it_is_echoed() {
    let server = Server::start(vec![response("big-1"), response("big-1-2026-01-01")]).await;
    let router = named(vec![("gpt-5", responses(&server.base), Some("big-1"))]);
    assert_eq!(model_said(&router, "gpt-5").await, "gpt-5");
    assert_eq!(model_said(&router, "gpt-5").await, "big-1-2026-01-01");
    for asked in server.asked() {
        assert_eq!(serde_json::from_slice::<Value>(&asked.body).unwrap()["model"], "big-1");
    }
}

#[tokio::test]
async fn bytes_are_changed_only_where_the_name_is() {
    let server = Server::start(vec![answer("200 OK", "", "{}"), answer("200 OK", "", "{}")]).await;
    let router = named(vec![("a", responses(&server.base), Some("b")), ("c", responses(&server.base), None)]);
    router.forward(post(r#"{ "model" :"a",  "input":1.50 }"#)).await.unwrap();
    router.forward(post(r#"{ "model" :"c",  "input":1.50 }"#)).await.unwrap();
    let bodies: Vec<Vec<u8>> = server.asked().into_iter().map(|asked| asked.body).collect();
    assert_eq!(bodies[0], br#"{ "model" :"b",  "input":1.50 }"#);
    assert_eq!(bodies[1], br#"{ "model" :"c",  "input":1.50 }"#);
}

#[tokio::test]
async fn an_answer_that_is_passed_on_has_the_clients_name() {
    let theirs = json!({"model": "b", "data": [], "text": "\"model\":\"b\""});
    let server = Server::start(vec![json_answer(&theirs), json_answer(&theirs)]).await;
    let router = named(vec![("a", responses(&server.base), Some("b")), ("b", responses(&server.base), None)]);
    let answer = router.forward(post(r#"{"model":"a"}"#)).await.unwrap();
    assert!(answer.headers().get(header::CONTENT_LENGTH).is_none());
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    let body: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!((&body["model"], &body["text"]), (&json!("a"), &theirs["text"]));
    let answer = router.forward(post(r#"{"model":"b"}"#)).await.unwrap();
    assert!(answer.headers().get(header::CONTENT_LENGTH).is_some());
}

#[tokio::test]
async fn unknown_and_unclear_names_are_refused() {
    let nobody = responses("http://127.0.0.1:9/v1");
    let router = named(vec![("a", Arc::clone(&nobody), None), ("b", nobody, None)]);
    let (status, error) = status_of(router.turn(request(Some("x"), 2)).await.unwrap_err());
    assert_eq!((status, &error["code"]), (404, &json!("model_not_found")));
    assert_eq!(error["message"], "The model 'x' does not exist or you do not have access to it.");
    let (status, error) = status_of(router.forward(post(r#"{"model":"x"}"#)).await.unwrap_err());
    assert_eq!((status, &error["code"]), (404, &json!("model_not_found")));
    assert_eq!(status_of(router.turn(request(None, 0)).await.unwrap_err()).0, 400);
    for body in ["{}", r#"{"model":"a","model":"b"}"#] {
        assert_eq!(status_of(router.forward(post(body)).await.unwrap_err()).0, 400, "{body}");
    }
}

#[tokio::test]
async fn a_member_that_is_gone_is_passed_over() {
    let server = Server::start(vec![response("m"), response("m"), response("m"), response("m")]).await;
    let gone = responses("http://127.0.0.1:9/v1");
    let router = named(vec![("m", gone, None), ("m", responses(&server.base), None)]);
    for _ in 0..4 {
        assert_eq!(model_said(&router, "m").await, "m");
    }
}

#[tokio::test]
async fn a_retry_goes_to_another_member() {
    let bad = Server::start(vec![answer("500 Internal Server Error", "", "{}")]).await;
    let good = Server::start(vec![response("m")]).await;
    let router = named(vec![("m", responses(&bad.base), None), ("m", responses(&good.base), None)]);
    let turn = router.turn(request(Some("m"), 1)).await.unwrap();
    assert!(turn.events.count().await > 0);
    assert_eq!((bad.asked().len(), good.asked().len()), (1, 1));
}

#[tokio::test]
async fn each_model_says_what_it_can_be_passed() {
    let chat: Arc<dyn Upstream> =
        Arc::new(ChatUpstream::new(connection("http://127.0.0.1:9/v1"), ChatOptions::default()));
    let router = named(vec![("new", responses("http://127.0.0.1:9/v1"), None), ("old", chat, None)]);
    let path = "/v1/responses";
    assert!(router.forwards(path) && router.forwards_for(path, Some("new")));
    assert!(!router.forwards_for(path, Some("old")));
    assert!(router.forwards_for("/v1/chat/completions", Some("old")));
}

#[tokio::test]
async fn the_list_has_the_names_and_what_is_behind_a_pattern() {
    let theirs = json!({"object": "list", "data": [{"id": "m"}, {"id": "other"}]});
    let server = Server::start(vec![json_answer(&theirs)]).await;
    let upstream = responses(&server.base);
    let router = named(vec![("m", Arc::clone(&upstream), None), ("*", upstream, None)]);
    let list = router.models(&Credentials::default()).await.unwrap();
    let ids: Vec<&str> =
        list["data"].as_array().unwrap().iter().filter_map(|model| model["id"].as_str()).collect();
    assert_eq!(ids, ["m", "other"]);
}

#[tokio::test]
async fn a_new_table_holds_from_the_next_request_on() {
    let first = Server::start(vec![response("one")]).await;
    let second = Server::start(vec![response("two")]).await;
    let router = Router::new(Routes::lone(responses(&first.base)));
    assert_eq!(model_said(&router, "m").await, "one");
    router.replace(Routes::lone(responses(&second.base)));
    assert_eq!(model_said(&router, "m").await, "two");
}

fn about(kept_by: KeptBy, body: &'static str) -> Request<RequestBody> {
    let mut request = post(body);
    request.extensions_mut().insert(kept_by);
    request
}

async fn asked_of(router: &Router, kept_by: KeptBy, body: &'static str) -> Result<(u16, String), u16> {
    match router.forward(about(kept_by, body)).await {
        Ok(answer) => {
            let CameFrom(name) = answer.extensions().get().cloned().unwrap();
            Ok((answer.status().as_u16(), name))
        }
        Err(UpstreamError::Status { status, .. }) => Err(status.as_u16()),
        Err(error) => panic!("{error}"),
    }
}

#[tokio::test]
async fn what_an_upstream_keeps_is_asked_of_that_one() {
    let fine = || answer("200 OK", "content-type: application/json\r\n", "{\"model\":\"m-there\"}");
    let one = Server::start((0..6).map(|_| fine()).collect()).await;
    let two = Server::start((0..6).map(|_| fine()).collect()).await;
    let name = |server: &Server| server.base.strip_prefix("http://").unwrap().to_owned();
    let members = || vec![("m", responses(&one.base), None), ("m", responses(&two.base), Some("m-there"))];
    let router = named(members());
    let kept =
        |upstream: Option<String>, model: Option<&str>| KeptBy { upstream, model: model.map(str::to_owned) };
    for server in [&one, &two] {
        for model in [Some("m"), Some("gone"), None] {
            let asked = asked_of(&router, kept(Some(name(server)), model), "").await;
            assert_eq!(asked, Ok((200, name(server))), "{model:?}");
        }
        // Going on from it: those first that have it.
        let asked = asked_of(&router, kept(Some(name(server)), Some("m")), r#"{"model":"m"}"#).await;
        assert_eq!(asked, Ok((200, name(server))));
    }
    // The answer has the client's name for the model again.
    let answer = router.forward(about(kept(Some(name(&two)), Some("m")), "")).await.unwrap();
    assert_eq!(answer.into_body().collect().await.unwrap().to_bytes(), "{\"model\":\"m\"}");
    // An upstream that is gone: whoever has the model now, or nobody.
    let gone = || Some("gone:1/v1".to_owned());
    assert!(asked_of(&router, kept(gone(), Some("m")), "").await.is_ok());
    assert_eq!(asked_of(&router, kept(gone(), None), "").await, Err(404));
    assert_eq!(asked_of(&router, KeptBy::default(), "").await, Err(404));
}

#[tokio::test]
async fn of_two_accounts_at_one_address_the_one_that_knows_it_answers() {
    let server = Server::start(vec![answer("404 Not Found", "", ""), answer("200 OK", "", "")]).await;
    let router = named(vec![("m", responses(&server.base), None), ("m", responses(&server.base), None)]);
    let name = server.base.strip_prefix("http://").unwrap().to_owned();
    let kept_by = KeptBy { upstream: Some(name.clone()), model: Some("m".to_owned()) };
    assert_eq!(asked_of(&router, kept_by, "").await, Ok((200, name)));
}

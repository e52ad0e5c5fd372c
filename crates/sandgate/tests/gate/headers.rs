//! What of a client's request besides its body the upstream gets when code may run: what it gets when the
//! request is passed on, as far as it says how the upstream is to behave.

use std::sync::LazyLock;

use sandgate_testkit::Turn;
use serde_json::json;

use crate::common::{World, chat_request, request, world};

static CHAT: LazyLock<World> = LazyLock::new(|| World::for_good("chat"));

const LINES: &str = "http-referer: https://app.example\r\nx-title: App\r\nanthropic-beta: a,b\r\n\
                     cookie: session=1\r\nx-forwarded-for: 10.0.0.1\r\n";

#[test]
fn every_turn_has_the_clients_wishes_and_its_query() {
    for (world, path, body) in [
        (world(), "/v1/responses", request(json!({}))),
        (world(), "/v1/chat/completions", chat_request(json!({}))),
        (&*CHAT, "/v1/responses", request(json!({}))),
        (&*CHAT, "/v1/chat/completions", chat_request(json!({}))),
    ] {
        let client = world.client([Turn::code("1"), Turn::text("1")]);
        client.post_with(&format!("{path}?api-version=preview&a=b"), LINES, &body).ok();
        let asked = world.asked(&client);
        assert_eq!(asked.len(), 2);
        for turn in asked {
            assert_eq!(turn.query.as_deref(), Some("api-version=preview&a=b"));
            assert_eq!(turn.headers["http-referer"], "https://app.example");
            assert_eq!(turn.headers["x-title"], "App");
            assert_eq!(turn.headers["anthropic-beta"], "a,b");
            assert!(!turn.headers.contains_key("cookie") && !turn.headers.contains_key("x-forwarded-for"));
        }
    }
}

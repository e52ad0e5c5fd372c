//! What is sent is signed, and only a clear yes is a yes.

use super::super::expression::sample;
use super::*;
use crate::upstream::test_server::{Answer as Served, Server, answer as served};

fn hook(base: &str, seconds: u64) -> Webhook {
    let secret = Secret::new("whsec_c2VjcmV0".to_owned());
    Webhook::new(&format!("{base}/hook?a=b"), &secret, Duration::from_secs(seconds), WebhookWhen::Always)
        .unwrap()
}

/// As the specification's own example has it, made with its reference implementation.
#[test]
fn the_signature_is_that_of_standard_webhooks() {
    let secret = BASE64_STANDARD.decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
    let signed =
        signature(&secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, br#"{"test": 2432232314}"#);
    assert_eq!(signed, "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
}

#[tokio::test]
async fn a_question_is_sent_whole_and_signed() {
    let body = r#"{"decision": "approve", "reason": " fine ", "more": 1}"#;
    let server = Server::start(vec![served("200 OK", "", body)]).await;
    let facts = sample();
    let answer = hook(&server.base, 60).ask(&facts).await;
    assert_eq!(answer, Ok(Answer::Approve(Some("fine".to_owned()))));
    let asked = &server.asked()[0];
    assert!(asked.head.starts_with("POST /v1/hook?a=b HTTP/1.1"), "{}", asked.head);
    let time = asked.header("webhook-timestamp").unwrap().parse().unwrap();
    let expected = format!("v1,{}", signature(b"secret", &facts.id, time, &asked.body));
    assert_eq!(asked.header("webhook-signature").unwrap(), expected);
    assert_eq!(asked.header("webhook-id").unwrap(), facts.id);
    let sent: serde_json::Value = serde_json::from_slice(&asked.body).unwrap();
    assert_eq!(sent["code"], facts.code);
    assert_eq!(sent["imports"][0], "os");
    assert_eq!((&sent["key"]["name"], &sent["model"]), (&"ci".into(), &"gpt-5".into()));
    assert_eq!(sent["id"], facts.id);
}

#[tokio::test]
async fn only_a_clear_answer_counts() {
    let long = format!(r#"{{"decision": "approve", "reason": "{}"}}"#, "x".repeat(LONGEST_ANSWER));
    for (status, headers, body, expected) in [
        ("200 OK", "", r#"{"decision": "deny", "reason": "no"}"#, Ok(Answer::Deny(Some("no".to_owned())))),
        ("202 Accepted", "", r#"{"decision": "ask", "reason": null}"#, Ok(Answer::Ask(None))),
        ("200 OK", "", r#"{"decision": "yes"}"#, Err(NoAnswer::Unusable)),
        ("200 OK", "", r#"{"decision": "approve", "reason": 7}"#, Err(NoAnswer::Unusable)),
        ("200 OK", "", r#"{"approve": true}"#, Err(NoAnswer::Unusable)),
        ("200 OK", "", "approve", Err(NoAnswer::Unusable)),
        ("200 OK", "", "", Err(NoAnswer::Unusable)),
        ("200 OK", "", &long, Err(NoAnswer::Unusable)),
        ("500 Oops", "", r#"{"decision": "approve"}"#, Err(NoAnswer::Status)),
        ("302 Found", "location: /v1/other\r\n", r#"{"decision": "approve"}"#, Err(NoAnswer::Status)),
    ] {
        let second = served("200 OK", "", r#"{"decision": "approve"}"#);
        let server = Server::start(vec![served(status, headers, body), second]).await;
        assert_eq!(hook(&server.base, 60).ask(&sample()).await, expected, "{status} {body:.60}");
        assert_eq!(server.asked().len(), 1, "{status} {body:.60}");
    }
}

#[tokio::test]
async fn silence_and_absence_are_no_answer() {
    let server = Server::start(vec![Served::ThenSilence(b"HTTP/1.1 200 OK\r\n".to_vec())]).await;
    assert_eq!(hook(&server.base, 1).ask(&sample()).await, Err(NoAnswer::TooSlow));
    let half = b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"decision\": \"approve\"".to_vec();
    let server = Server::start(vec![Served::ThenSilence(half)]).await;
    assert_eq!(hook(&server.base, 1).ask(&sample()).await, Err(NoAnswer::TooSlow));
    let server = Server::start(vec![Served::ThenClose(b"HTTP/1.1 200".to_vec())]).await;
    assert_eq!(hook(&server.base, 60).ask(&sample()).await, Err(NoAnswer::Unreachable));
    assert_eq!(hook("http://127.0.0.1:9", 60).ask(&sample()).await, Err(NoAnswer::Unreachable));
}

#[test]
fn what_cannot_be_a_hook_is_refused_and_its_secret_is_never_printed() {
    let new = |url: &str, secret: &str| {
        let secret = Secret::new(secret.to_owned());
        Webhook::new(url, &secret, Duration::from_secs(1), WebhookWhen::Asked)
    };
    for url in ["", "example.org", "ftp://example.org", "/hook", "http://me:pw@example.org/"] {
        assert_eq!(new(url, "s").unwrap_err(), InvalidWebhook::Url, "{url}");
    }
    for secret in ["", "whsec_", "whsec_%"] {
        assert_eq!(new("http://x", secret).unwrap_err(), InvalidWebhook::Secret, "{secret}");
    }
    let shown = format!("{:?}", new("http://x/y?token=hidden", "hidden").unwrap());
    assert!(!shown.contains("hidden") && shown.contains("http://x/y"), "{shown}");
}

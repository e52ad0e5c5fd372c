//! Keys are made once, shown once, and ended at once.

use axum::http::StatusCode;
use sandgate_core::KeyLimits;
use sandgate_store::NewKey;

use crate::testing::TestConsole;

const MASTER: &str = "master-of-this-server";

#[tokio::test]
async fn a_key_is_made_limited_and_revoked() {
    let console = TestConsole::new(Some(MASTER)).await;
    let cookie = console.sign_in(MASTER, "").await.cookie();
    let csrf = console.get("/console/keys", &cookie).await.csrf();
    let wish =
        format!("csrf={csrf}&name=%3Cb%3Eann&days=3&models=gpt-5*%2C+loopback&memory_mib=512&console=yes");
    let made = console.post("/console/keys", &cookie, &wish).await;
    let secret = made.body.split("id=\"secret\">").nth(1).and_then(|rest| rest.split('<').next()).unwrap();
    assert!(secret.starts_with("sg-"), "{}", made.body);
    assert!(console.console.parts().access.operator(secret).await.unwrap().is_some());

    let list = console.get("/console/keys", &cookie).await.body;
    assert!(!list.contains(secret) && !list.contains("<b>ann") && list.contains("&lt;b&gt;ann"), "{list}");
    let id = list.split("tr id=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap().to_owned();
    let record = console.store.key(&id).await.unwrap();
    assert_eq!(record.limits.models.as_deref(), Some(&["gpt-5*".to_owned(), "loopback".to_owned()][..]));
    assert_eq!((record.limits.memory_bytes, record.limits.console), (Some(512 << 20), true));

    let change = format!("csrf={csrf}&id={id}&executions=2");
    assert_eq!(console.post("/console/keys/one", &cookie, &change).await.status, StatusCode::SEE_OTHER);
    let expected = KeyLimits { executions: Some(2), ..KeyLimits::default() };
    assert_eq!(console.store.key(&id).await.unwrap().limits, expected);
    assert!(console.get(&format!("/console/keys/one?id={id}"), &cookie).await.body.contains("value=\"2\""));

    for (typed, kept) in [
        ("&network=*.example.org%2C+registries", Some(&["*.example.org", "registries"][..])),
        ("", Some(&["*.example.org", "registries"])),
        ("&network=disabled", Some(&["disabled"])),
        ("&network=", None),
    ] {
        let change = format!("csrf={csrf}&id={id}{typed}");
        assert_eq!(console.post("/console/keys/one", &cookie, &change).await.status, StatusCode::SEE_OTHER);
        let network = console.store.key(&id).await.unwrap().limits.network;
        let kept = kept.map(|words| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        assert_eq!(network, kept, "{typed}");
    }
    let end = format!("/console/keys/revoke?id={id}");
    assert_eq!(console.post(&end, &cookie, &format!("csrf={csrf}")).await.status, StatusCode::SEE_OTHER);
    assert!(console.store.key(&id).await.unwrap().revoked_at.is_some());
}

#[tokio::test]
async fn what_cannot_be_is_said() {
    let console = TestConsole::new(Some(MASTER)).await;
    let cookie = console.sign_in(MASTER, "").await.cookie();
    let csrf = console.get("/console/keys", &cookie).await.csrf();
    for wish in [
        "name=",
        "name=a&owner=master",
        "name=a&days=0",
        "name=a&executions=-1",
        "name=a&memory_mib=1",
        "name=a&network=none",
    ] {
        let answer = console.post("/console/keys", &cookie, &format!("csrf={csrf}&{wish}")).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{wish}");
    }
    assert!(!console.store.has_keys().await.unwrap());
    assert_eq!(console.get("/console/keys/one?id=key_no", &cookie).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn who_signed_in_with_a_key_makes_none() {
    let console = TestConsole::new(Some(MASTER)).await;
    let limits = KeyLimits { console: true, ..KeyLimits::default() };
    let new = NewKey { name: "ann".to_owned(), limits, ..NewKey::default() };
    let (_, secret) = console.store.create_key(new).await.unwrap();
    let cookie = console.sign_in(secret.expose(), "").await.cookie();
    let page = console.get("/console/keys", &cookie).await;
    assert!(page.body.contains("ann") && !page.body.contains("New key"));
    let wish = format!("csrf={}&name=bob&console=yes", page.csrf());
    assert_eq!(console.post("/console/keys", &cookie, &wish).await.status, StatusCode::FORBIDDEN);
}

//! Daytona's protocol against a server that answers as its contract says, or does not.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use sandgate_core::Secret;
use serde_json::json;

use super::Daytona;
use crate::http::test_server::{Asked, JSON, TestServer};
use crate::{
    DaytonaSettings, Deadlines, NetworkWish, Place, Provider, ProviderError, ProviderResult, Reach, Run,
    Said, Wish,
};

fn provider(server: &TestServer) -> Daytona {
    let settings = DaytonaSettings {
        url: format!("http://{}/api", server.host),
        api_key: Secret::new("key".to_owned()),
        snapshot: None,
        image: None,
        target: None,
        organization: None,
        deadlines: Deadlines { answer: Duration::from_secs(2), ..Deadlines::default() },
        reach: Reach::default(),
    };
    Daytona::new(settings).unwrap()
}

/// A sandbox that was made when all was well.
async fn place(server: &TestServer) -> Arc<dyn Place> {
    let wish = Wish {
        memory_bytes: None,
        cpu_millis: None,
        disk_bytes: None,
        network: NetworkWish::Nothing,
        life: Duration::from_secs(90),
        env: Vec::new(),
        metadata: BTreeMap::new(),
    };
    provider(server).create(&wish).await.unwrap()
}

fn sandbox(asked: &Asked, state: &str) -> (u16, &'static str, String) {
    let host = asked.headers["host"].to_str().unwrap();
    let url = format!("http://{host}/toolbox");
    let body = json!({
        "id": "abc", "state": state, "toolboxProxyUrl": url, "createdAt": "2020-01-01T00:00:00Z", "labels": {},
    });
    (200, JSON, body.to_string())
}

fn refusal(status: u16, message: &str) -> (u16, &'static str, String) {
    (status, JSON, json!({"statusCode": status, "message": message}).to_string())
}

fn run(language: Option<&str>) -> Run {
    Run {
        code: "1".to_owned(),
        language: language.map(ToOwned::to_owned),
        timeout: Duration::from_secs(5),
        output_bytes: 1000,
        ..Run::default()
    }
}

async fn last_said(place: &dyn Place, run: Run) -> ProviderResult<Said> {
    let mut running = place.execute(run).await?;
    let mut last = None;
    while let Some(said) = running.said.recv().await {
        last = Some(said);
    }
    last.unwrap()
}

/// What each way into the toolbox says when it refuses with this status, and the sandbox is in this state.
async fn refused(status: u16, state: Option<&'static str>) -> Vec<ProviderError> {
    let server = TestServer::start(move |asked| match (asked.path.as_str(), state) {
        ("/api/sandbox", _) => sandbox(asked, "started"),
        ("/api/sandbox/abc", Some(state)) => sandbox(asked, state),
        ("/api/sandbox/abc", None) => refusal(404, "Sandbox with ID abc not found"),
        _ => refusal(status, "failed to get runner info"),
    })
    .await;
    let place = place(&server).await;
    vec![
        last_said(place.as_ref(), run(None)).await.unwrap_err(),
        last_said(place.as_ref(), run(Some("javascript"))).await.unwrap_err(),
        place.create_context(&crate::ContextWish::default()).await.unwrap_err(),
        place.delete_context("c").await.unwrap_err(),
        place.read("/mnt/data/a").await.unwrap_err(),
        place.write("/mnt/data/a", Box::new(tokio::io::empty()), 0).await.unwrap_err(),
        place.list("/mnt/data", 2, 10).await.unwrap_err(),
        place.remove("/mnt/data/a").await.err().unwrap_or(ProviderError::NoSuchFile("a".to_owned())),
    ]
}

#[tokio::test]
async fn a_sandbox_that_is_gone_is_lost_whichever_way_it_is_spoken_to() {
    for (status, state) in [(404, None), (400, None), (400, Some("destroyed")), (404, Some("destroying"))] {
        for error in refused(status, state).await {
            assert_eq!(error, ProviderError::Lost, "{status} {state:?}");
        }
    }
}

#[tokio::test]
async fn what_a_sandbox_that_is_there_refuses_is_not_its_loss() {
    for status in [400, 404] {
        let all = refused(status, Some("started")).await;
        assert!(!all.contains(&ProviderError::Lost), "{all:?}");
    }
    let all = refused(404, Some("started")).await;
    assert_eq!(
        (&all[3], &all[4]),
        (&ProviderError::NoSuchContext, &ProviderError::NoSuchFile("/mnt/data/a".to_owned()))
    );
}

/// A sandbox whose user may not make the folder, with this end of the command that does it as root.
async fn furnished(exit_code: i64) -> (ProviderResult<crate::Furnished>, Vec<Asked>) {
    let server = TestServer::start(move |asked| match asked.path.as_str() {
        "/toolbox/abc/process/execute" => (
            200,
            JSON,
            json!({"exitCode": exit_code, "result": "sudo: a password is required\n"}).to_string(),
        ),
        path if path.starts_with("/toolbox/abc/files/folder") => {
            refusal(400, "mkdir /mnt/data: permission denied")
        }
        _ => sandbox(asked, "started"),
    })
    .await;
    let furnished = place(&server).await.furnish("/mnt/data").await;
    (furnished, server.asked())
}

#[tokio::test]
async fn a_folder_that_is_not_its_users_to_make_is_made_by_root() {
    let (furnished, asked) = furnished(0).await;
    assert_eq!(furnished, Ok(crate::Furnished::Later));
    let command = "sudo -n mkdir -p '/mnt/data' && sudo -n chmod 777 '/mnt/data'";
    assert_eq!(asked.last().unwrap().json(), json!({"command": command, "timeout": 10}));
}

#[tokio::test]
async fn a_folder_that_root_cannot_make_either_is_an_error_that_says_why() {
    let error = furnished(1).await.0.unwrap_err().to_string();
    assert!(error.contains("permission denied") && error.contains("a password is required"), "{error}");
}

#[tokio::test]
async fn an_old_sandbox_gets_no_more_time_than_was_asked_for() {
    let server = TestServer::start(|asked| sandbox(asked, "started")).await;
    place(&server).await.extend(Duration::from_secs(601)).await.unwrap();
    assert_eq!(server.lines().last().unwrap(), "POST /api/sandbox/abc/ttl/11");
}

#[tokio::test]
async fn other_languages_work_in_the_working_folder_with_their_lines_as_they_were() {
    let server = TestServer::start(|asked| match asked.path.as_str() {
        "/toolbox/abc/process/code-run" => (200, JSON, json!({"exitCode": 0, "result": ""}).to_string()),
        _ => sandbox(asked, "started"),
    })
    .await;
    let place = place(&server).await;
    let enter = r#"globalThis.eval('process.chdir("/mnt/data")');"#;
    for (code, sent) in [("1\n2", format!("{enter}1\n2")), ("#!node\n2", format!("{enter}//#!node\n2"))] {
        let run = Run { code: code.to_owned(), ..run(Some("typescript")) };
        last_said(place.as_ref(), run).await.unwrap();
        assert_eq!(server.asked().last().unwrap().json()["code"], sent);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 24)]
async fn several_folders_are_listed_at_once_and_not_too_many() {
    // How many are asked for now, and were at most.
    let asking = Arc::new((Mutex::new((0, 0)), Condvar::new()));
    let seen = Arc::clone(&asking);
    let server = TestServer::start(move |asked| {
        let Some(folder) = asked.path.strip_prefix("/toolbox/abc/files?path=") else {
            return sandbox(asked, "started");
        };
        if folder == "%2Fmnt%2Fdata" {
            let all: Vec<_> = (0..12).map(|n| json!({"name": format!("f{n}"), "isDir": true})).collect();
            return (200, JSON, json!(all).to_string());
        }
        let mut count = seen.0.lock().unwrap();
        *count = (count.0 + 1, count.1.max(count.0 + 1));
        seen.1.notify_all();
        // Until there is another; one at a time would wait in vain.
        let waited = seen.1.wait_timeout_while(count, Duration::from_millis(500), |count| count.1 < 2);
        waited.unwrap().0.0 -= 1;
        (200, JSON, json!([{"name": "file"}]).to_string())
    })
    .await;
    let gathered = place(&server).await.list("/mnt/data", 2, 100).await.unwrap();
    assert_eq!((gathered.entries.len(), gathered.cut), (24, false));
    let most = asking.0.lock().unwrap().1;
    assert!((2..=8).contains(&most), "{most}");
}

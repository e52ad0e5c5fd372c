use tokio::sync::mpsc;

use super::*;

fn joined(events: Vec<ProcessEvent>) -> Joined {
    let (sender, receiver) = mpsc::channel(64);
    events.into_iter().for_each(|event| sender.try_send(event).unwrap());
    Joined { pid: 5, events: receiver }
}

async fn shown(events: Events) -> Vec<Result<serde_json::Value, Last>> {
    events
        .map(|event| event.map(|event| serde_json::to_value(event).unwrap()["event"].take()))
        .collect()
        .await
}

const LONG: Duration = Duration::from_secs(3600);

#[tokio::test]
async fn large_output_is_cut_into_pieces_in_order() {
    let bytes = Bytes::from([vec![b'a'; PIECE], vec![b'b'; 3]].concat());
    let end = ProcessEvent::Ended(ProcessEnd::Exited { code: 0 });
    let told = shown(Watched::started(joined(vec![ProcessEvent::Stdout(bytes), end]), LONG)).await;
    assert_eq!(told[0], Ok(serde_json::json!({ "start": { "pid": 5 } })));
    assert_eq!(told[1].as_ref().unwrap()["data"]["stdout"].as_str().unwrap().len(), PIECE.div_ceil(3) * 4);
    assert_eq!(told[2], Ok(serde_json::json!({ "data": { "stdout": "YmJi" } })));
    assert_eq!(told[3].as_ref().unwrap()["end"]["status"], "exit status 0");
    assert_eq!(told.len(), 4);
}

#[tokio::test]
async fn a_process_without_an_end_cuts_the_stream() {
    let told = shown(Watched::started(joined(vec![]), LONG)).await;
    assert_eq!(told[1..], [Err(Last::Cut)]);
}

#[tokio::test]
async fn its_deadline_is_an_error_for_whoever_started_it_only() {
    let late = || joined(vec![ProcessEvent::Ended(ProcessEnd::TimedOut)]);
    let told = shown(Watched::started(late(), LONG)).await;
    assert_eq!(told[1..], [Err(Last::Refused(too_late()))]);
    let told = shown(Watched::joined(late(), LONG, None)).await;
    assert_eq!(told[1].as_ref().unwrap()["end"]["exitCode"], -1);
}

#[tokio::test]
async fn silence_is_broken_by_keepalives_until_the_deadline() {
    let (sender, receiver) = mpsc::channel(1);
    let joined = Joined { pid: 5, events: receiver };
    let (often, deadline) = (Duration::from_millis(5), Duration::from_millis(300));
    let told = shown(Watched::joined(joined, often, Some(deadline))).await;
    assert_eq!(told[1], Ok(serde_json::json!({ "keepalive": {} })));
    assert_eq!(told.last(), Some(&Err(Last::Refused(too_late()))));
    drop(sender);
}

//! The whole loop: the model calls the code tool, the code runs, the model answers; one request to the
//! gate, two to the model.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use hyper::Method;
use serde_json::Value;

use super::bodies::{self, Place};
use super::client::{Client, Reply};
use super::passing::DELAYS;
use super::round::Round;
use super::subjects::{Stage, Subject};

/// Until the pool is full again, so that one sample does not pay for another.
const SETTLE: Duration = Duration::from_millis(150);

/// A loop in a container that was used before.
pub(super) fn case(delay: u64) -> String {
    format!("loop_{delay}")
}

/// A loop in a container made for it. LiteLLM makes one each time.
pub(super) fn fresh_case(delay: u64) -> String {
    format!("loop_{delay}_fresh")
}

pub(super) async fn measure(stage: &Stage, round: &mut Round) -> Result<()> {
    for delay in DELAYS {
        let times = if delay == 0 { 10 } else { 3 };
        for subject in stage.subjects(round.number) {
            let mut client = stage.client(subject);
            match subject {
                Subject::Direct => direct(&mut client, delay, times, round).await?,
                Subject::Gate => {
                    known(&mut client, delay, times, round).await?;
                    fresh(&mut client, delay, times.min(4), round).await?;
                }
                Subject::LiteLlm => {
                    for at in 0..=times.min(4) {
                        let reply = client.post("/v1/responses", bodies::looped(delay, Place::Fresh)).await?;
                        container(&reply)?;
                        if at > 0 {
                            round.add(&fresh_case(delay), subject, reply.whole_ms());
                        }
                    }
                }
            }
        }
    }
    Ok(())
}

/// Both turns asked for by the client itself; the code would run in between.
async fn direct(client: &mut Client, delay: u64, times: usize, round: &mut Round) -> Result<()> {
    let [first, second] = bodies::turns(delay);
    client.post("/v1/responses", first.clone()).await?;
    for _ in 0..times {
        let took = client.post("/v1/responses", first.clone()).await?.whole_ms()
            + client.post("/v1/responses", second.clone()).await?.whole_ms();
        round.add(&case(delay), Subject::Direct, took);
    }
    Ok(())
}

/// In turn with the code alone and with an answer that costs nothing, for the code's own time.
async fn known(client: &mut Client, delay: u64, times: usize, round: &mut Round) -> Result<()> {
    let first = client.post("/v1/responses", bodies::looped(delay, Place::Fresh)).await?;
    let place = container(&first)?;
    for _ in 0..times {
        let reply = client.post("/v1/responses", bodies::looped(delay, Place::Known(&place))).await?;
        ensure!(container(&reply)? == place, "the code ran in another container than was asked for");
        round.add(&case(delay), Subject::Gate, reply.whole_ms());
        let code = client.post("/v1/execute", bodies::execute(&place)).await?;
        round.add("execute", Subject::Gate, code.whole_ms());
        let nothing = client.send(Method::GET, "/health", Bytes::new()).await?;
        round.add("health", Subject::Gate, nothing.whole_ms());
    }
    remove(client, &place).await
}

async fn fresh(client: &mut Client, delay: u64, times: usize, round: &mut Round) -> Result<()> {
    for _ in 0..times {
        tokio::time::sleep(SETTLE).await;
        // The pause has cooled the way as well, which is not the loop's doing.
        client.send(Method::GET, "/health", Bytes::new()).await?;
        let reply = client.post("/v1/responses", bodies::looped(delay, Place::Fresh)).await?;
        round.add(&fresh_case(delay), Subject::Gate, reply.whole_ms());
        remove(client, &container(&reply)?).await?;
    }
    Ok(())
}

/// The code's own time: an execution less what any request costs.
pub(super) fn own(round: &Round) -> Option<f64> {
    let execute = round.median("execute", Subject::Gate)?;
    Some(execute - round.median("health", Subject::Gate)?)
}

/// Where the code ran. An answer without its output is an error.
pub(super) fn container(reply: &Reply) -> Result<String> {
    let text = reply.text();
    let response: Value = serde_json::from_str(&text).with_context(|| format!("no JSON: {text}"))?;
    let output = response["output"].as_array().map(Vec::as_slice).unwrap_or_default();
    let call = output.iter().find(|item| item["type"] == "code_interpreter_call");
    let call = call.with_context(|| format!("the code was not run: {text}"))?;
    ensure!(call["outputs"][0]["logs"] == "42\n", "the code did not print 42: {text}");
    ensure!(output.iter().any(|item| item["type"] == "message"), "there is no last message: {text}");
    Ok(call["container_id"].as_str().unwrap_or_default().to_owned())
}

pub(super) async fn remove(client: &mut Client, container: &str) -> Result<()> {
    let path = format!("/v1/containers/{container}");
    let reply = client.send(Method::DELETE, &path, Bytes::new()).await?;
    ensure!(reply.status.is_success(), "a container was not removed: {}", reply.text());
    Ok(())
}

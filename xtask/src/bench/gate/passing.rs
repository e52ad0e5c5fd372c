//! Requests that are passed on: whole answers of three sizes of request, and streams.

use anyhow::{Result, ensure};

use super::bodies::{self, Size};
use super::client::Client;
use super::mock::CHUNKS;
use super::round::Round;
use super::subjects::{Stage, Subject};

pub(super) const DELAYS: [u64; 2] = [0, 60];

/// The name of a case, as in the names of series.
pub(super) fn case(size: Size, delay: u64) -> String {
    format!("pass_{}_{delay}", size.name())
}

/// Streams without the code tool, and with it.
pub(super) const STREAMS: [(&str, bool); 2] = [("stream", false), ("tool_stream", true)];

/// How often in a round.
fn times(subject: Subject, delay: u64) -> usize {
    match (subject, delay) {
        (Subject::LiteLlm, 0) => 4,
        (_, 0) => 20,
        _ => 3,
    }
}

pub(super) async fn whole(stage: &Stage, round: &mut Round) -> Result<()> {
    for delay in DELAYS {
        for size in Size::ALL {
            let body = bodies::plain(size, delay);
            for subject in stage.subjects(round.number) {
                let mut client = stage.client(subject);
                // The first one opens the connection and warms what has gone cold meanwhile.
                for at in 0..=times(subject, delay) {
                    let reply = client.post("/v1/responses", body.clone()).await?;
                    if at > 0 {
                        round.add(&case(size, delay), subject, reply.whole_ms());
                    }
                }
            }
        }
    }
    Ok(())
}

pub(super) async fn streams(stage: &Stage, round: &mut Round) -> Result<()> {
    for (name, with_tool) in STREAMS {
        for subject in stage.subjects(round.number) {
            let mut client = stage.client(subject);
            client.post("/v1/responses", bodies::plain(Size::Small, 0)).await?;
            stream(&mut client, name, with_tool, subject, round).await?;
        }
    }
    Ok(())
}

async fn stream(
    client: &mut Client,
    name: &str,
    with_tool: bool,
    subject: Subject,
    round: &mut Round,
) -> Result<()> {
    // Direct, the tool would only be another word in the body.
    let with_tool = with_tool && subject != Subject::Direct;
    for _ in 0..2 {
        let reply = client.post("/v1/responses", bodies::streamed(with_tool)).await?;
        let text = reply.text();
        ensure!(text.contains("response.completed"), "a stream ended early: {text}");
        let chunks = reply.chunk_ms();
        round.add(&format!("{name}_first"), subject, reply.first_ms());
        // LiteLLM makes a stream of a whole answer when the tool is there; then nothing carries a time.
        if with_tool && subject == Subject::LiteLlm {
            continue;
        }
        ensure!(
            chunks.len() >= CHUNKS as usize * 9 / 10,
            "only {} of {CHUNKS} deltas were whole",
            chunks.len()
        );
        chunks.iter().for_each(|time| round.add(&format!("{name}_chunk"), subject, *time));
    }
    Ok(())
}

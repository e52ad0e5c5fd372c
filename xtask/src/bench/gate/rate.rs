//! What a request that is only passed on costs the server's processors, and how many it passes on.

use std::time::Instant;

use anyhow::Result;
use tokio::task::JoinSet;

use super::bodies::{self, Size};
use super::subjects::{Stage, Subject};
use crate::bench::samples::Samples;

const AT_ONCE: usize = 16;
/// Each part gives one value, so that there is a spread.
const PARTS: usize = 5;

pub(super) async fn measure(stage: &Stage, requests: usize, samples: &mut Samples) -> Result<()> {
    for part in 0..PARTS {
        for subject in stage.subjects(part) {
            // LiteLLM takes longer for one than the gate for twenty.
            let requests = if subject == Subject::LiteLlm { requests / 10 } else { requests };
            part_of(stage, subject, requests / AT_ONCE, samples).await?;
        }
    }
    Ok(())
}

async fn part_of(stage: &Stage, subject: Subject, each: usize, samples: &mut Samples) -> Result<()> {
    let body = bodies::plain(Size::Small, 0);
    let cpu = || stage.server(subject).map(super::server::Server::cpu_ms).transpose();
    let (begun, before) = (Instant::now(), cpu()?);
    let mut running = JoinSet::new();
    for _ in 0..AT_ONCE {
        let (mut client, body) = (stage.client(subject), body.clone());
        running.spawn(async move {
            for _ in 0..each {
                client.post("/v1/responses", body.clone()).await?;
            }
            anyhow::Ok(())
        });
    }
    while let Some(ended) = running.join_next().await {
        ended??;
    }
    let all = (each * AT_ONCE) as f64;
    samples.add(&format!("pass_{}_per_second", subject.name()), all / begun.elapsed().as_secs_f64());
    if let (Some(before), Some(after)) = (before, cpu()?) {
        samples.add(&format!("pass_{}_cpu_ms", subject.name()), (after - before) / all);
    }
    Ok(())
}

//! Many live sandboxes at once: does each answer, and does the next one take longer to make?

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use sandgate_core::{Backend, Sandbox};
use tokio::task::JoinSet;

use super::engines::BenchEngine;
use super::samples::Samples;
use super::{cells, memory};
use crate::say::say;

/// Creations timed at each size of the crowd.
const TIMED: usize = 30;
/// Cells timed in the full crowd.
const CELLS: usize = 300;
/// Sandboxes of the crowd asked at the same time.
const AT_ONCE: usize = 16;

/// The sizes at which creation is timed.
pub(super) fn sizes(live: usize) -> [usize; 4] {
    [1, live / 5, live / 2, live]
}

pub(super) async fn measure(bench: &BenchEngine, live: usize, samples: &mut Samples) -> Result<()> {
    let engine = bench.engine.as_ref();
    let mut crowd: Vec<Arc<dyn Sandbox>> = Vec::with_capacity(live);
    let free_before = memory::available_bytes()?;
    for size in sizes(live) {
        say(&format!("{size} live sandboxes"));
        while crowd.len() < size {
            crowd.push(cells::create(engine).await?.sandbox);
        }
        // Filling has emptied what is kept ready.
        tokio::time::sleep(Duration::from_secs(1)).await;
        if size == live {
            let taken = free_before.saturating_sub(memory::available_bytes()?);
            samples.add("crowd_system_mib_each", memory::mib(taken / u64::try_from(live.max(1))?));
        }
        time_creations(bench, size, samples).await?;
    }
    for at in 0..CELLS {
        // A step that shares no factor with usual sizes reaches all of them in no order.
        let sandbox = &crowd[(at * 197) % crowd.len()];
        samples.add("crowd_warm_ms", cells::warm_cell(sandbox.as_ref()).await?);
    }
    let begun = Instant::now();
    let answered = ask_everyone(&crowd).await?;
    samples.add("crowd_all_answer_ms", cells::milliseconds(begun));
    samples.add("crowd_answered", answered as f64);
    say(&format!("{answered} of {} live sandboxes answered", crowd.len()));
    for sandbox in crowd.drain(1..) {
        engine.delete(sandbox.id()).await?;
    }
    // Once more with one, so that a machine that became slower or faster meanwhile does not look like the crowd.
    tokio::time::sleep(Duration::from_secs(1)).await;
    time_creations(bench, 1, samples).await
}

async fn time_creations(bench: &BenchEngine, live: usize, samples: &mut Samples) -> Result<()> {
    let engine = bench.engine.as_ref();
    for _ in 0..TIMED {
        bench.settled().await;
        let created = cells::create(engine).await?;
        samples.add(&format!("first_with_{live}_live_ms"), created.first_ms);
        engine.delete(created.sandbox.id()).await?;
    }
    Ok(())
}

/// Each gets a sum of its own and must answer with it.
async fn ask_everyone(crowd: &[Arc<dyn Sandbox>]) -> Result<usize> {
    let mut answered = 0;
    let mut asked: JoinSet<Result<f64>> = JoinSet::new();
    let mut count = |answer: Result<f64>| match answer {
        Ok(_) => answered += 1,
        Err(error) => say(&format!("{error:#}")),
    };
    for (number, sandbox) in crowd.iter().cloned().enumerate() {
        if asked.len() == AT_ONCE
            && let Some(answer) = asked.join_next().await
        {
            count(answer?);
        }
        asked.spawn(async move {
            let code = format!("np.arange({number} + 1).size");
            cells::cell(sandbox.as_ref(), &code, &(number + 1).to_string()).await
        });
    }
    while let Some(answer) = asked.join_next().await {
        count(answer?);
    }
    Ok(answered)
}

//! How many sandboxes per second the engine makes, uses and removes, when nothing else is to do.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::Result;
use sandgate_core::Backend;
use tokio::task::JoinSet;

use super::cells;
use super::engines::BenchEngine;
use super::samples::Samples;
use crate::say::say;

const AT_ONCE: usize = 4;
/// The rate is taken over each of these parts, so that it has a spread.
const PARTS: usize = 5;

pub(super) async fn measure(bench: &BenchEngine, creations: usize, samples: &mut Samples) -> Result<()> {
    say(&format!("{creations} sandboxes made, used and removed, {AT_ONCE} at a time"));
    let part = creations.div_ceil(PARTS);
    for _ in 0..PARTS {
        let left = Arc::new(AtomicUsize::new(part));
        let begun = Instant::now();
        let mut workers = JoinSet::new();
        for _ in 0..AT_ONCE {
            workers.spawn(work(Arc::clone(&bench.engine), Arc::clone(&left)));
        }
        while let Some(worker) = workers.join_next().await {
            samples.add_all("sustained_first_ms", &worker??);
        }
        let part = part as f64;
        samples.add("sustained_per_second", part / begun.elapsed().as_secs_f64());
    }
    Ok(())
}

async fn work(engine: Arc<sandgate_engine::Engine>, left: Arc<AtomicUsize>) -> Result<Vec<f64>> {
    let take = || left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok();
    let mut times = Vec::new();
    while take() {
        let created = cells::create(engine.as_ref()).await?;
        times.push(created.first_ms);
        engine.delete(created.sandbox.id()).await?;
    }
    Ok(times)
}
